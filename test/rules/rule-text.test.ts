import { expect, test } from 'vitest'
import { exceptText, matchText, reasonText } from '../../src/rules/rule-text.ts'

test.each([
  [
    { type: 'command', argv: ['terraform', '**', 'destroy', '**'], cwd: ['/srv/prod/**', '/srv/eu/**'] },
    'terraform ** destroy ** in /srv/prod/** or /srv/eu/**',
  ],
  [
    { type: 'command', cwd: ['/srv/prod/**'], shells: 'ignore' },
    'every command in /srv/prod/** (not through shells)',
  ],
  [{ type: 'command', argv: ['echo', 'two words'] }, "echo 'two words'"],
  [{ type: 'request', operation: ['user', 'key create'] }, 'svc user or svc key create'],
  [{ type: 'file', file: ['*.tfplan'] }, 'file *.tfplan'],
  [
    { type: 'tool_call', server: ['github'], tool: ['merge_*'], arguments: { branch: ['main'] } },
    'merge_* of github with branch main',
  ],
  [{ type: 'tool_call', server: ['github'] }, 'every tool_call of github'],
  [{ type: 'text', text: ['*production*'], key: ['7'] }, 'text *production* by key 7'],
  [{ type: 'text' }, 'every text'],
  ['not a rule', ''],
])('says what a rule holds: %j', (match, text) => {
  expect(matchText(match)).toBe(text)
})

test('says what a rule leaves out, and which reason it requires', () => {
  expect(exceptText([{ cwd: ['/srv/sandbox/**'] }, { argv: ['terraform', 'plan'] }])).toBe(
    'in /srv/sandbox/**; terraform plan',
  )
  expect(exceptText(undefined)).toBe('')
  expect(reasonText({ prompt: 'Incident', pattern: 'INC-*', example: 'INC-77' })).toBe(
    'Incident, must match INC-*, for example INC-77',
  )
  expect(reasonText({})).toBe('required')
})
