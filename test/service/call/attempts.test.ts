import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyChain } from '../../../src/receipt/chain.ts'
import { runWrite } from '../../../src/service/call/run.ts'
import { allScopes } from '../all-scopes.ts'
import { ask, createApprover, decide, show } from '../approver.ts'
import { chainOf, createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { onPostgres } from '../storage/postgres-databases.ts'

let service: TestService
let acme: { id: number; key: string }
let foreign: { id: number; key: string }
beforeAll(async () => {
  service = await startTestService({ dev: true, twice: true })
  acme = await createTenant(service, 'acme')
  foreign = await createTenant(service, 'foreign')
})
afterAll(() => service.close())

const caller = { keyId: 0, name: 'operator', orgId: null, scopes: allScopes }
const attempt = { action: 'createGeofence' as const, caller, requestId: 'req_1', fieldNames: [] as string[] }

describe('a write that was undone and ran again', () => {
  test('counts once: one row, one ring, one message, one row in the audit', async () => {
    const approver = await createApprover(service, acme.id, 1)
    const before = [service.notified.length, (await chainOf(service, acme.id)).length] as const
    const { request_id } = dataOf(await ask(service, approver))
    expect(service.notified.slice(before[0])).toMatchObject([{ request_id }])
    expect((await chainOf(service, acme.id)).slice(before[1])).toMatchObject([{ action: 'createApproval' }])
    dataOf(await decide(service, request_id, approver.key))
    expect(dataOf(await show(service, request_id)).status).toBe('approved')
    expect(verifyChain(await chainOf(service, acme.id))).toMatchObject({ ok: true })
  })

  test('drops the effects of its first attempt: headers and actions after the commit', async () => {
    let attempts = 0
    const woken: number[] = []
    const { wake } = service.service.signals
    service.service.signals.wake = (request) => void woken.push(...request.users)
    const headers = await runWrite(
      service.service,
      { ...attempt, org: acme.id },
      async (_: object, call) => {
        attempts += 1
        call.header('x-attempt', `${attempts}`)
        if (attempts === 1) call.header('x-first', 'yes')
        call.wake({ org_id: acme.id, users: [attempts] })
        await call.audit(acme.id, 'test')
        return undefined
      },
      {},
      async (_call, work) => (await work()).headers,
    )
    service.service.signals.wake = wake
    expect(attempts).toBe(2)
    expect(headers).toEqual({ 'x-attempt': '2' })
    expect(woken).toEqual([2])
  })
})

// An engine with several writers runs it again in the lock of that organization.
test.skipIf(onPostgres())(
  'a write that appends to the audit of an organization that it did not name is found out',
  async () => {
    const write = runWrite(
      service.service,
      { ...attempt, org: acme.id },
      async (_: object, call) => call.audit(foreign.id, 'test'),
      {},
      async (_call, work) => work(),
    )
    await expect(write).rejects.toThrow(
      `A write named organization ${acme.id} and appended to the audit of ${foreign.id}`,
    )
  },
)
