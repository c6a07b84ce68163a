import { beforeEach, describe, expect, test } from 'vitest'
import { acme, clock, service } from '../acme.ts'
import { answerTo, createPhone, digitsOf, fromPhone, type Phone } from '../page/phone.ts'
import { ask, decide } from '../approver.ts'
import { createClock, day, hour, minute } from '../clock.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { endCooling } from '../../../src/service/devices/cooling.ts'
import {
  ada,
  admin,
  approveAsOperator,
  enrollAnother,
  installHooks,
  replacement,
  revoke,
} from './lost-device.ts'
import { moveDevice, signIn } from './moves.ts'

installHooks()

const stateOfReplacement = async () =>
  dataOf(await service.call('GET', `/svc/v1/organizations/${acme.id}/users/${ada.user}/devices`)).at(-1)

const setDelay = (recovery_delay_s: number) =>
  service.call('PUT', `/organization/${acme.id}/update`, { body: { policy: { recovery_delay_s } } })

describe('a device after the last one was lost', () => {
  test('waits for an administrator, who sees it on their page, and then for the cooling period', async () => {
    expect(await stateOfReplacement()).toMatchObject({ state: 'pending', proof: 'admin', active_from: null })
    const page = dataOf(await fromPhone(service, 'GET', 'devices', { cookie: admin.cookie }))
    expect(page.recoveries).toMatchObject([
      { id: replacement.device, member: { user_id: ada.user, first_name: 'Ada' } },
    ])
    await service.runSql(`UPDATE devices SET user_id = ${admin.user} WHERE id = ${replacement.device}`)
    expect(dataOf(await fromPhone(service, 'GET', 'devices', { cookie: admin.cookie })).recoveries).toEqual(
      [],
    )
    await service.runSql(`UPDATE devices SET user_id = ${ada.user} WHERE id = ${replacement.device}`)
    const from = new Date(Date.parse(clock.iso()) + day).toISOString()
    expect(dataOf(await moveDevice(service, admin, replacement.device))).toMatchObject({
      state: 'pending',
      active_from: from,
    })
    clock.tick(day - 1)
    const early = await signIn(service, replacement.key)
    expect(refusal(early)).toEqual([403, 'device_pending', []])
    expect(early.body.message).toBe(`This device becomes active at ${from} unless someone refuses it`)
    expect(refusal(await ask(service, ada))).toEqual([409, 'approver_not_enrolled', []])
    clock.tick(1)
    dataOf(await signIn(service, replacement.key))
    expect(await stateOfReplacement()).toMatchObject({
      state: 'active',
      proof: 'admin',
      bound_at: clock.iso(),
    })
    const { request_id } = dataOf(await ask(service, ada))
    expect(dataOf(await decide(service, request_id, replacement.key))).toMatchObject({ status: 'approved' })
  })

  test('becomes active without any reader', async () => {
    dataOf(await moveDevice(service, admin, replacement.device))
    clock.tick(day)
    await endCooling(service.service)
    expect(await stateOfReplacement()).toMatchObject({ state: 'active', bound_at: clock.iso() })
  })

  test('waits as long as it was told, whatever another program writes', async () => {
    dataOf(await moveDevice(service, admin, replacement.device))
    await service.runSql(
      `UPDATE devices SET approved_at = '2020-01-01T00:00:00.000Z', active_from = '2020-01-02T00:00:00.000Z'
       WHERE id = ${replacement.device}`,
    )
    await endCooling(service.service)
    expect(await service.runSql("SELECT id FROM devices WHERE state = 'pending'")).toHaveLength(1)
    expect((await signIn(service, replacement.key)).status).toBe(403)
  })

  test('is approved by one of two administrators at once', async () => {
    const second = await createPhone(service, acme.id, 8, { role: 'admin' })
    clock.tick(2 * day)
    const answers = await Promise.all([
      moveDevice(service, { key: admin.key }, replacement.device),
      moveDevice(service, { key: second.key }, replacement.device),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(refusal(answers.find(({ status }) => status === 409)!)).toEqual([409, 'device_approved', []])
  })

  test('cannot be approved by a member, nor by the operator if an administrator can', async () => {
    const bob = await createPhone(service, acme.id, 2)
    expect(refusal(await moveDevice(service, bob, replacement.device))).toEqual([403, 'admin_only', []])
    expect(refusal(await approveAsOperator())).toEqual([409, 'administrator_approves', []])
    expect(await stateOfReplacement()).toMatchObject({ state: 'pending', active_from: null })
  })

  test('is approved by the operator if no administrator has a device', async () => {
    dataOf(await revoke(admin.device))
    expect(dataOf(await approveAsOperator())).toMatchObject({
      state: 'pending',
      active_from: expect.any(String),
    })
    expect(refusal(await approveAsOperator())).toEqual([409, 'device_approved', []])
    clock.tick(day)
    dataOf(await signIn(service, replacement.key))
    expect(refusal(await approveAsOperator())).toEqual([409, 'device_active', []])
  })

  test('is not approved by an operator who heard other digits than the device shows', async () => {
    dataOf(await revoke(admin.device))
    const { comparison_code: shown } = digitsOf(replacement)
    const other = shown === '286500' ? '286501' : '286500'
    expect(refusal(await approveAsOperator(replacement, other))).toEqual([409, 'comparison_differs', []])
    expect(await stateOfReplacement()).toMatchObject({ state: 'pending', active_from: null })
    dataOf(await approveAsOperator(replacement, `${shown.slice(0, 3)} ${shown.slice(3)}`))
  })

  test('waits as long as the policy says, and not at all with 0', async () => {
    dataOf(await setDelay(0))
    expect(dataOf(await moveDevice(service, admin, replacement.device))).toMatchObject({
      state: 'active',
      active_from: null,
    })
    expect(refusal(await setDelay(-1))).toEqual([422, 'invalid_field', ['policy.recovery_delay_s']])
  })
})

const refuseWith = async ({ key }: Phone, device_id = replacement.device) => {
  const begun = await fromPhone(service, 'POST', 'device-refusal/challenge', { body: { device_id } })
  const { challenge } = dataOf(begun)
  const body = { device_id, challenge, response: answerTo(challenge, key) }
  return fromPhone(service, 'POST', 'device-refusal', { body })
}

describe('during the cooling period, a device', () => {
  beforeEach(async () => {
    dataOf(await moveDevice(service, admin, replacement.device))
    clock.tick(hour)
  })

  test('is refused by the device that was active before, which sees it when it signs in', async () => {
    const answer = await signIn(service, ada.key)
    expect(refusal(answer)).toEqual([403, 'device_revoked', []])
    expect(answer.body.data.pending).toEqual([
      { id: replacement.device, registered_at: expect.any(String), active_from: expect.any(String) },
    ])
    expect(dataOf(await refuseWith(ada))).toMatchObject({ state: 'refused' })
    clock.tick(2 * day)
    await endCooling(service.service)
    expect(refusal(await signIn(service, replacement.key))).toEqual([403, 'device_refused', []])
  })

  test('cannot be refused by a device of another person, by itself, or by one that was never active', async () => {
    const bob = await createPhone(service, acme.id, 2)
    expect(refusal(await refuseWith(bob))).toEqual([404, 'not_found', []])
    expect(refusal(await refuseWith(replacement))).toEqual([404, 'not_found', []])
    const never = await enrollAnother()
    expect(refusal(await refuseWith(never))).toEqual([404, 'not_found', []])
  })

  test('can be refused by an administrator until the period is over', async () => {
    clock.tick(day)
    expect(refusal(await moveDevice(service, admin, replacement.device, 'refuse'))).toEqual([
      409,
      'device_active',
      [],
    ])
    await endCooling(service.service)
    expect(await stateOfReplacement()).toMatchObject({ state: 'active' })
  })

  test('can be revoked', async () => {
    expect(dataOf(await revoke(replacement.device))).toMatchObject({ state: 'revoked', next: null })
    clock.tick(2 * day)
    await endCooling(service.service)
    expect(refusal(await signIn(service, replacement.key))).toEqual([403, 'device_revoked', []])
  })

  test('waits its whole period again if the clock was ahead', async () => {
    const behind = createClock('2029-12-01T00:00:00.000Z')
    clock.tick(Date.parse(behind.iso()) - Date.parse(clock.iso()))
    expect(refusal(await signIn(service, replacement.key))).toEqual([403, 'device_pending', []])
    clock.tick(day - 1)
    expect(refusal(await signIn(service, replacement.key))).toEqual([403, 'device_pending', []])
    clock.tick(1)
    dataOf(await signIn(service, replacement.key))
  })

  test('does not wait less if the clock is set back a little', async () => {
    clock.tick(-30 * minute)
    clock.tick(day - 30 * minute - 1)
    expect(refusal(await signIn(service, replacement.key))).toEqual([403, 'device_pending', []])
    clock.tick(1)
    dataOf(await signIn(service, replacement.key))
  })

  test('needs the approval of another recovered device that became active first', async () => {
    const second = await enrollAnother()
    dataOf(await moveDevice(service, admin, second.device))
    clock.tick(day - hour)
    dataOf(await signIn(service, replacement.key))
    clock.tick(2 * day)
    expect(refusal(await signIn(service, second.key))).toEqual([403, 'device_pending', []])
    expect(await stateOfReplacement()).toMatchObject({ state: 'pending', proof: 'device', active_from: null })
  })
})
