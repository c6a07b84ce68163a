import { expect, test } from 'vitest'
import type { Rule } from '../../src/contract/rule-shape.ts'
import type { Facts } from '../../src/rules/match.ts'
import { waysAround } from '../../src/rules/ways-around.ts'

const around = (facts: Facts, rules: Pick<Rule, 'match' | 'except'>[] = []): string =>
  waysAround(rules.map((rule, at) => ({ name: `rule-${at}`, who: ['@sre'], ...rule })) as Rule[], {
    facts,
    isTrusted: false,
  }).join('\n')

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
