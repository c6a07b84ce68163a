import { expect, test } from 'vitest'
import type { Rule } from '../../src/contract/rule-shape.ts'
import type { Facts } from '../../src/rules/match.ts'
import { waysAround } from '../../src/rules/ways-around.ts'

const around = (facts: Facts, rules: Pick<Rule, 'match' | 'except'>[] = []): string =>
  waysAround(rules.map((rule, at) => ({ name: `rule-${at}`, who: ['@sre'], ...rule })) as Rule[], {
    facts,
    isTrusted: false,
  }).join('\n')

const command: Facts = { type: 'command', argv: ['ls'], cwd: '/', executable: '/bin/ls' }

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
