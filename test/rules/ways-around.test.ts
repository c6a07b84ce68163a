import { expect, test } from 'vitest'
import type { Rule } from '../../src/contract/rule-shape.ts'
import type { Facts } from '../../src/rules/match.ts'
import { ruleWarnings, waysAround } from '../../src/rules/ways-around.ts'

type Part = Pick<Rule, 'match' | 'except' | 'break_glass' | 'grant'>

/** Of the rules, the last `held` hold it. */
const around = (facts: Facts, parts: Part[] = [], held = 0): string => {
  const rules = parts.map((rule, at): Rule => ({ name: `rule-${at}`, who: ['@sre'], ...rule }))
  const holding = rules.slice(rules.length - held)
  return waysAround(rules, { facts, isTrusted: false, holding }).join('\n')
}

const command: Facts = { type: 'command', argv: ['ls'], cwd: '/', executable: '/bin/ls', hasVariables: false }

test('says that a name is all that a rule knows of a file, a server and a program', () => {
  expect(around({ type: 'file', file: 'a.tfplan' })).toContain('A copy of the file under another name')
  expect(around({ type: 'tool_call', server: 's', tool: 't', arguments: {} })).toContain(
    'A server is known by',
  )
  expect(around(command)).toContain('a copy of the program')
})

test('says of an exception for a program that a name is all that it knows, too', () => {
  const all: Rule['match'] = { type: 'command' }
  const text = 'every file of that name'
  expect(around(command, [{ match: all, except: [{ argv: ['ls', '**'] }] }])).toContain(text)
  expect(around(command, [{ match: all, except: [{ cwd: ['/tmp'] }] }])).not.toContain(text)
})

test('says which rule for the same program compares a path as a word', () => {
  const text = 'compares words, not files'
  expect(around(command, [{ match: { type: 'command', argv: ['ls', '/srv/**'] } }])).toContain(text)
  expect(around(command, [{ match: { type: 'command', argv: ['/bin/ls', '**'] } }])).not.toContain(text)
})

const argv = (...words: string[]): Pick<Rule, 'match'>[] => [{ match: { type: 'command', argv: words } }]

test('says which rule for the same program further words go around', () => {
  const text = 'Further words go around rule-0'
  for (const open of [['ls'], ['LS', '-l'], ['l*', '**', '-l'], ['ls', '-l', '**']])
    expect(around(command, argv(...open))).toContain(text)
  for (const closed of [['rm', '-rf'], ['ls', '**'], ['**'], ['ls', '**', '-l', '**']])
    expect(around(command, argv(...closed))).not.toContain(text)
})

test('says that options reach around an exception for a folder alone', () => {
  const match: Rule['match'] = { type: 'command', argv: ['ls', '**'] }
  const text = 'An exception for a folder alone (rule-0)'
  expect(around(command, [{ match, except: [{ cwd: ['/tmp'] }] }])).toContain(text)
  expect(around(command, [{ match, except: [{ argv: ['ls'], cwd: ['/tmp'] }] }])).not.toContain(text)
  const other: Rule['match'] = { ...match, argv: ['rm', '**'] }
  expect(around(command, [{ match: other, except: [{ cwd: ['/tmp'] }] }])).not.toContain(text)
})

test('says which exception lets more through than it seems to', () => {
  const match: Rule['match'] = { type: 'command', argv: ['ls', '**'] }
  const text = 'An exception of rule-0 has * in "tmp/*"'
  expect(around(command, [{ match, except: [{ argv: ['ls', 'tmp/*'] }] }])).toContain(text)
  expect(around(command, [{ match, except: [{ argv: ['ls', '**'], cwd: ['/tmp/**'] }] }])).not.toContain(
    'has * in',
  )
})

test('names break-glass and grants only of rules that hold it, and break-glass only if each allows it', () => {
  const [bare] = argv('ls')
  const open = { ...bare!, break_glass: '@oncall', grant: { max_s: 60, uses: 1 } }
  expect(around(command, [bare!, open], 1)).toContain('one member of @oncall approves what rule-1 holds')
  expect(around(command, [bare!, open], 1)).toContain('Whoever approves what rule-1 holds')
  expect(around(command, [bare!, open], 2)).not.toContain('--break-glass')
  expect(around(command, [open, bare!], 1)).not.toMatch(/--break-glass|can allow the same again/)
})

const warned = (match: Rule['match'], more: Partial<Rule> = {}) =>
  ruleWarnings({ name: 'r', match, who: ['@sre:2'], ...more })

test('says of a new rule which words go around it, and who approves alone in an emergency', () => {
  const between = expect.stringContaining('other words in between')
  expect(warned({ type: 'command', argv: ['git', 'push', '**'] })).toEqual([between])
  expect(warned({ type: 'command', argv: ['git', '**', 'push', '**'] })).toEqual([])
  expect(warned({ type: 'command', argv: ['git', '**'] })).toEqual([])
  expect(warned({ type: 'command', argv: ['rm', '**', '/etc/*', '**'] })).toEqual([
    expect.stringContaining('r compares words, not files'),
  ])
  expect(warned({ type: 'text', text: ['Deploy'] })).toEqual([
    'r holds only the text "Deploy": "*Deploy*" also holds longer ones.',
  ])
  expect(warned({ type: 'text', text: ['*Deploy*'] })).toEqual([])
  expect(warned({ type: 'file' }, { break_glass: '@sre' })).toEqual([
    expect.stringContaining('one member of @sre approves alone'),
  ])
  expect(warned({ type: 'file' }, { break_glass: '@oncall' })).toEqual([])
})

test('says of a group of commands that most of it never waits', () => {
  expect(warned({ type: 'request', operation: ['approve'] })).toEqual([
    'r holds only approve mutes delete of approve: what asks, answers, revokes or refuses never waits for an approval.',
  ])
  expect(warned({ type: 'request', operation: ['user', 'key', 'user create', 'approve mutes'] })).toEqual([])
})
