import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApprover } from '../approver.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { createMobileUser, register } from '../mobile-user.ts'

const mobile = '+12025550101'

let service: TestService
let acme: { id: number; key: string }
beforeEach(async () => {
  service = await startTestService({ dev: true })
  acme = await createTenant(service, 'acme')
})
afterEach(() => service.close())

const status = async (who: object = { mobile }, key?: string) =>
  dataOf(await service.call('POST', '/enrolstatus', { key, body: who }))
const enrolled = async (who: object = { mobile }, key?: string) =>
  dataOf(await service.call('POST', '/is_enrolled', { key, body: who }))

describe('the steps to the first approval', () => {
  test('are shown one after the other', async () => {
    const all = ['confirm_mobile', 'join_organization', 'enroll_device']
    expect(await status()).toEqual({ enrolled: false, state: 'unknown', requirements: all })
    dataOf(await register(service))
    expect(await status()).toEqual({ enrolled: false, state: 'registered', requirements: all })

    const { user_id } = await createMobileUser(service, { email: 'ada@acme.example' })
    expect(await status()).toEqual({
      enrolled: false,
      state: 'confirmed',
      requirements: ['verify_email', 'join_organization', 'enroll_device'],
    })

    const post = async (path: string, body: object = {}) => dataOf(await service.call('POST', path, { body }))
    const { code } = await post(`/organization/${acme.id}/create/auth-code`, { label: 'x' })
    await post('/user/assign-org', { user_id, auth_code: code })
    expect(await status()).toEqual({
      enrolled: false,
      state: 'pending',
      requirements: ['verify_email', 'await_acceptance', 'enroll_device'],
    })

    await post(`/organization/${acme.id}/user/${user_id}/accept`)
    expect(await status({ user_id })).toEqual({
      enrolled: false,
      state: 'member',
      requirements: ['verify_email', 'enroll_device'],
    })
    expect(await enrolled()).toEqual({ enrolled: false })
  })

  test('are complete for a member with a device, until it is revoked', async () => {
    const { id, mobile: number, device } = await createApprover(service, acme.id, 7)
    expect(await status({ mobile: number })).toEqual({ enrolled: true, state: 'enrolled', requirements: [] })
    expect(await enrolled({ user_id: id })).toEqual({ enrolled: true })
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`))
    expect(await status({ mobile: number })).toEqual({
      enrolled: false,
      state: 'member',
      requirements: ['enroll_device'],
    })
    expect(await enrolled({ user_id: id })).toEqual({ enrolled: false })
  })

  test("is another's secret: its people look like nobody", async () => {
    const other = await createTenant(service, 'other')
    const { id, mobile: number } = await createApprover(service, acme.id, 7)
    expect((await status({ mobile: number }, other.key)).state).toBe('unknown')
    expect(await enrolled({ mobile: number }, other.key)).toEqual({ enrolled: false })
    const byId = await service.call('POST', '/is_enrolled', { key: other.key, body: { user_id: id } })
    expect(refusal(byId)).toEqual([404, 'not_found', []])
  })

  test('require a number or an id, and accept both of the same person', async () => {
    const of = (body: object) => service.call('POST', '/enrolstatus', { body })
    expect(refusal(await of({}))).toEqual([422, 'invalid_field', ['mobile', 'user_id']])
    const { user_id } = await createMobileUser(service)
    expect(dataOf(await of({ mobile, user_id })).state).toBe('confirmed')
    expect(refusal(await of({ mobile: '+12025550188', user_id }))).toEqual([404, 'not_found', []])
  })
})
