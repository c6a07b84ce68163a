import { expect, test } from 'vitest'
import { isGranted } from '../../src/receipt/granted.ts'
import type { Subject } from '../../src/receipt/subject.ts'

const call = (meta?: object, more: object = {}): Subject => {
  const data = {
    server: 'ops',
    tool: 'restart',
    arguments: { service: 'web' },
    ...(meta && { parameters: { _meta: meta } }),
    ...more,
  }
  return { type: 'tool_call', data } as Subject
}
/** As Codex sends it. */
const codex = (n: number): object => ({
  callId: `call_${n}`,
  itemId: `fc_${n}`,
  sessionId: '01a226c4-8983',
  threadId: '01a226c4-8983',
  windowId: `01a226c4-8983:${n}`,
  'x-codex-turn-metadata': { turn_id: `${n}`, turn_started_at_unix_ms: n, workspaces: {} },
})
const claude = (n: number): object => ({ 'claudecode/toolUseId': `toolu_${n}` })

test.each([
  ['another number of Claude Code', call(claude(1)), call(claude(2))],
  ['other numbers of Codex', call(codex(1)), call(codex(2))],
  ['another program that makes it', call(claude(1)), call(codex(2))],
  ['no number', call(claude(1)), call()],
  [
    'other metadata that stay the same',
    call({ ...claude(1), 'acme/dry': 1 }),
    call({ ...claude(2), 'acme/dry': 1 }),
  ],
])('a call that was granted may have %s', (_, granted, asked) => {
  expect(isGranted(granted, [], asked)).toBe(true)
})

test.each([
  ['other metadata', call({ ...claude(1), 'acme/force': true }), call(claude(2))],
  ['further metadata', call(claude(1)), call({ ...claude(2), 'acme/force': true })],
  ['a number that is no plain word', call(claude(1)), call({ 'claudecode/toolUseId': 'toolu_2 --force' })],
  ['the contents of a file', call(claude(1)), call({ 'claudecode/toolUseId': '@secret' })],
  ['a setting', call(claude(1)), call({ 'claudecode/toolUseId': 'a=b' })],
  ['an encoded dot', call(claude(1)), call({ 'claudecode/toolUseId': '%2e%2e/b' })],
  ['a number that is no text', call(codex(1)), call({ ...codex(2), callId: { force: true } })],
  [
    'other metadata with a name that begins alike',
    call(claude(1)),
    call({ 'claudecode/toolUseIdentity': 'x' }),
  ],
  ['metadata that are no object', call(), call(undefined, { parameters: { _meta: 'x' } })],
  ['other parameters', call(claude(1)), call(undefined, { parameters: { task: { ttl: 1 } } })],
  ['a number in another place', call(), call(undefined, { parameters: { callId: 'x' } })],
])('a call that was granted may not have %s', (_, granted, asked) => {
  expect(isGranted(granted, [], asked)).toBe(false)
})
