import { expect, test } from 'vitest'
import type { ApprovalRecord } from '../../../../src/contract/approval.ts'
import { createHeldCalls, type GetConsumed } from '../../../../src/cli/mcp/gate/held-calls.ts'

const definition = { sha256: 'a'.repeat(64), description: '' }
const definitions = {
  read: async () => definition,
  requireListed: async () => undefined,
  schemaOf: () => undefined,
  forget: () => undefined,
}
const approver = { to: ['+12025550101'], timeout: 60, factors: undefined }
const record = {
  status: 'pending',
  number: null,
  approver_mobile: approver.to[0]!,
  expires_at: 'T',
} as ApprovalRecord
const call = (id: number) => ({
  id,
  name: 'write',
  arguments: { a: 1 },
  parameters: undefined,
  progressToken: undefined,
  envelope: {},
  bytes: Buffer.from(''),
})

test('a call that waits too long is answered, and the same call waits for the same decision, which it uses once', async () => {
  let asked = 0
  let consumed = 0
  let approve: () => void
  const yes = new Promise<void>((resolve) => (approve = resolve))
  const getConsumed: GetConsumed = async (_, __, { progress, recheck }) => {
    asked++
    progress.requested(record)
    await yes
    await recheck()
    consumed++
  }
  const held = createHeldCalls({
    server: 's',
    definitions,
    approved: { of: () => undefined, keep: () => undefined },
    getConsumed,
    clock: { now: () => 0 },
    softMs: 20,
  })
  const wait = { signal: new AbortController().signal, say: () => undefined }
  expect(await held.hold(call(1), approver, wait)).toMatchObject({
    approved: false,
    text: expect.stringContaining('exactly the same arguments'),
  })
  approve!()
  await new Promise(setImmediate)
  // Approved while no call waits: it is not used up.
  expect([asked, consumed]).toEqual([1, 0])
  expect(await held.hold(call(2), approver, wait)).toEqual({ approved: true })
  expect([asked, consumed]).toEqual([1, 1])
  await held.end()
})

test('a tool that the server changes again and again is not called, and the answer says why', async () => {
  let version = 0
  let consumed = 0
  const held = createHeldCalls({
    server: 's',
    definitions: {
      ...definitions,
      read: async () => ({ ...definition, sha256: String(++version).repeat(64).slice(0, 64) }),
    },
    approved: { of: () => undefined, keep: () => undefined },
    getConsumed: async (_, __, { recheck }) => {
      await recheck()
      consumed++
    },
    clock: { now: () => 0 },
  })
  const wait = { signal: new AbortController().signal, say: () => undefined }
  expect(await held.hold(call(1), approver, wait)).toMatchObject({
    approved: false,
    text: expect.stringContaining('The server changed the tool each time'),
  })
  expect(consumed).toBe(0)
})

test('a call that is cancelled before its number is known ends with its request', async () => {
  const cancelled = new AbortController()
  const held = createHeldCalls({
    server: 's',
    definitions,
    approved: { of: () => undefined, keep: () => undefined },
    getConsumed: async (_, __, { progress, signal }) => {
      cancelled.abort()
      progress.requested({ ...record, number: '42' } as ApprovalRecord)
      // The request is withdrawn.
      await new Promise(setImmediate)
      signal.throwIfAborted()
    },
    clock: { now: () => 0 },
  })
  const wait = { signal: cancelled.signal, say: () => undefined }
  expect(await held.hold(call(1), approver, wait)).toMatchObject({ approved: false })
  await held.end()
})
