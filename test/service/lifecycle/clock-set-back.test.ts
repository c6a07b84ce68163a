import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ask, createApprover, show } from '../approver.ts'
import { createClock, day, minute, second } from '../clock.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { codeFor, confirm, register, send, wrongCode } from '../mobile-user.ts'

const mobile = '+12025550101'
const month = 30 * day

let clock: ReturnType<typeof createClock>
let service: TestService
beforeEach(async () => {
  clock = createClock()
  service = await startTestService({ now: clock.now, dev: true })
})
afterEach(() => service.close())

describe('a clock that was a month ahead and is set back', () => {
  test('holds up no codes', async () => {
    for (let sent = 0; sent < 5; sent += 1) dataOf(await send(service, mobile))
    clock.tick(-month)
    for (const sends_left of [4, 3, 2, 1, 0])
      expect(dataOf(await send(service, mobile))).toMatchObject({ sends_left })
    const refused = await send(service, mobile)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '600'])
  })

  test('leaves no code that outlives its tries', async () => {
    dataOf(await register(service))
    dataOf(await send(service, mobile))
    const otp = await codeFor(service, mobile)
    clock.tick(-month)
    expect(refusal(await confirm(service, mobile, otp))).toEqual([403, 'otp_invalid', []])
  })

  test('holds up no request for approval', async () => {
    const acme = await createTenant(service, 'acme')
    const ada = await createApprover(service, acme.id, 1)
    for (let asked = 0; asked < 5; asked += 1) {
      const { request_id } = dataOf(await ask(service, ada, { lifetime_s: 1 }))
      clock.tick(second)
      expect(dataOf(await show(service, request_id))).toMatchObject({ status: 'expired' })
    }
    clock.tick(-month)
    expect(dataOf(await ask(service, ada))).toMatchObject({ status: 'pending' })
  })
})

test('a clock that is set back a little forgets no try', async () => {
  dataOf(await register(service))
  dataOf(await send(service, mobile))
  clock.tick(minute)
  const wrong = wrongCode(await codeFor(service, mobile))
  for (let tried = 0; tried < 5; tried += 1) await confirm(service, mobile, wrong)
  clock.tick(-minute)
  const otp = await codeFor(service, mobile)
  expect(refusal(await confirm(service, mobile, otp))).toEqual([403, 'otp_invalid', []])
})
