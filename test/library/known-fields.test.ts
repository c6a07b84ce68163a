import { expect, test } from 'vitest'
import { createClient, verifyReceipt, watchApproval } from '../../src/library/svc.ts'
import { failure } from '../client/hosted.ts'

// A program in JavaScript can pass anything.

const baseUrl = 'https://svc.example.com/admin/public/api'
const client = createClient({ baseUrl, apiKey: 'key' })
const verify = (expected: unknown) => verifyReceipt('', { keys: [] }, expected as never)
const watch = (options: object) =>
  watchApproval(client, 'apr_1', { wanted: { action: 'Deploy' }, ...options } as never)

test.each([
  [() => verify({ acton: 'Deploy' }), 'expected has no field "acton"', 'Did you mean action?'],
  [() => verify({ maxage: 1 }), 'expected has no field "maxage"', 'Did you mean maxAgeS?'],
  [() => verify(undefined), 'The fields of expected must be an object', undefined],
  [() => verify({ rule: { nme: 'x' } }), 'expected.rule has no field "nme"', 'Did you mean name?'],
  [
    () => verify({ lines: [{ group: 'sre' }] }),
    'expected.lines[0].need must be a whole number above 0',
    undefined,
  ],
  [
    () => verify({ rule: { who: [{ group: 'sre', need: 0 }] } }),
    'expected.rule.who[0].need must be a whole number above 0',
    undefined,
  ],
  [() => verify({ factors: null }), 'expected.factors must not be null', 'Leave out what is not checked'],
  [() => verify({ separation: 'Strict' }), 'expected.separation must be "strict", not "Strict"', undefined],
  [
    () => watch({ aprovers: ['@security'] }),
    'watchApproval has no option "aprovers"',
    'Did you mean approvers?',
  ],
  [() => watch({ expected: { facters: [] } }), 'expected has no field "facters"', 'Did you mean factors?'],
  [
    () => watch({ expected: { lines: [] } }),
    'expected has no field "lines"',
    expect.stringMatching(/^It has/),
  ],
  [
    () => client.createApproval({ action: 'Deploy' }, { idempotencykey: 'x' } as never),
    'createApproval has no option "idempotencykey"',
    'Did you mean idempotencyKey?',
  ],
  [
    async () => createClient({ baseUrl, apiKey: 'key', timeout: 1 } as never),
    'createClient has no option "timeout"',
    'Did you mean timeoutMs?',
  ],
])('%s is a usage error', async (call, message, hint) => {
  const error = await failure(call())
  expect([error.code, error.message, error.hint]).toEqual(['usage', message, hint])
})

test('what exists is taken, also if it is undefined', async () => {
  const lines = [{ people: ['+12025550101'], need: 1 }]
  const rule = { name: 'x', who: [{ group: 'sre', need: 1 }] }
  expect((await verify({ action: undefined, organization: 'acme', lines, rule })).valid).toBe(false)
})
