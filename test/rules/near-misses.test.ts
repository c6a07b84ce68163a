import { expect, test } from 'vitest'
import type { RuleMatch } from '../../src/contract/rule-shape.ts'
import type { Facts } from '../../src/rules/match.ts'
import { nearMisses } from '../../src/rules/near-misses.ts'

const missed = (facts: Facts, ...matches: RuleMatch[]): string[] =>
  nearMisses(
    matches.map((match, at) => ({ name: `rule-${at}`, match })),
    facts,
  )

const call = (server: string, tool: string, file_path: string): Facts => ({
  type: 'tool_call',
  server,
  tool,
  arguments: { file_path },
})

const command = (cwd: string, ...argv: string[]): Facts => ({
  type: 'command',
  argv,
  cwd,
  executable: `/bin/${argv[0]}`,
  hasVariables: false,
})

test('says which words or which folder of a rule a command does not have', () => {
  const force: RuleMatch = { type: 'command', argv: ['git', 'push', '--force'] }
  const make: RuleMatch = { type: 'command', argv: ['make', '**'], cwd: ['/srv/prod', '/srv/live'] }
  expect(missed(command('/', 'git', 'push', '--force', 'origin'), force, make)).toEqual([
    'rule-0 does not hold it: its argv is "git push --force".',
  ])
  expect(missed(command('/srv/prod/api', 'make', 'deploy'), force, make)).toEqual([
    'rule-1 does not hold it: its cwd is /srv/prod or /srv/live.',
  ])
  expect(missed(command('/srv/prod', 'make', 'deploy'), make)).toEqual([])
  expect(missed(command('/', 'ls'), force, make)).toEqual([])
})

test('says which argument, tool or server of a rule a call does not have', () => {
  const secrets: RuleMatch = {
    type: 'tool_call',
    server: ['claude-code'],
    tool: ['Write'],
    arguments: { file_path: ['**/.env'] },
  }
  expect(missed(call('claude-code', 'Write', '.env'), secrets)).toEqual([
    'rule-0 does not hold it: its argument file_path is **/.env.',
  ])
  expect(missed(call('claude-code', 'Edit', '/x/.env'), secrets)).toEqual([
    'rule-0 does not hold it: its tool is Write.',
  ])
  expect(missed(call('gemini', 'Write', '/x/.env'), secrets)).toEqual([
    'rule-0 does not hold it: its server is claude-code.',
  ])
  expect(missed(call('gemini', 'Edit', '/x/.env'), secrets)).toEqual([])
  const bash: RuleMatch = { type: 'tool_call', tool: ['Edit(*)'] }
  const pay: RuleMatch = { type: 'tool_call', tool: ['pay'], arguments: { amount: ['5'] } }
  expect(missed(call('claude-code', 'Edit', '/x/.env'), bash, pay)).toEqual([
    'rule-0 does not hold it: its tool is Edit(*).',
  ])
})

test('says nothing of rules that say one thing, and names at most three', () => {
  expect(missed({ type: 'file', file: 'a' }, { type: 'file', file: ['b'] })).toEqual([])
  expect(missed({ type: 'text', text: 'a' }, { type: 'command', argv: ['a'] })).toEqual([])
  const four = Array.from({ length: 4 }, (): RuleMatch => ({ type: 'command', argv: ['ls'], cwd: ['/tmp'] }))
  expect(missed(command('/', 'ls'), ...four)).toHaveLength(3)
})
