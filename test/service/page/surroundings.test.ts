import { expect, test } from 'vitest'
import { addMs } from '../../../src/core/iso-time.ts'
import { createMember, dataOf } from '../fixtures.ts'
import { createMobileUser } from '../mobile-user.ts'
import { createPhone, enrollPhone, fromPhone, type Phone } from './phone.ts'
import { signAway } from './sign-away.ts'
import { acme, ada, installHooks, service } from './visit.ts'

installHooks()

const waiting = async ({ cookie }: Phone): Promise<unknown[]> => {
  const [session] = dataOf(await fromPhone(service, 'GET', 'sessions', { cookie })).sessions
  return [session.waiting_members, session.waiting_devices]
}

test('the inbox counts the new devices of the person and, for an administrator, who asks to join but not who is on hold', async () => {
  const admin = await createPhone(service, acme.id, 2, { role: 'admin' })
  expect([await waiting(ada), await waiting(admin)]).toEqual([
    [null, 0],
    [0, 0],
  ])
  const { id } = await createMember(service, acme.id, 3)
  dataOf(await service.call('POST', `/organization/${acme.id}/user/${id}/pending`, { body: {} }))
  const { user_id } = await createMobileUser(service, { mobile: '2025550177' })
  const body = { label: 'x' }
  const { code } = dataOf(await service.call('POST', `/organization/${acme.id}/create/auth-code`, { body }))
  dataOf(await service.call('POST', '/user/assign-org', { body: { user_id, auth_code: code } }))
  await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
  expect([await waiting(ada), await waiting(admin)]).toEqual([
    [null, 1],
    [1, 0],
  ])
})

test('the inbox counts, for an administrator, the recoveries that nobody has approved', async () => {
  const admin = await createPhone(service, acme.id, 2, { role: 'admin' })
  dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
  await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
  expect(await waiting(admin)).toEqual([0, 1])
})

/** When Ada is away, as her inbox says. */
const readAway = async () =>
  dataOf(await fromPhone(service, 'GET', 'sessions', { cookie: ada.cookie })).sessions[0].away

test('the inbox says when the person is away, until they are back', async () => {
  const until = addMs(service.storage.now(), 86_400_000)
  dataOf(await signAway(service, ada, { until }))
  expect(await readAway()).toEqual({ from: expect.any(String), until })
  dataOf(await signAway(service, ada, { end: true }))
  expect(await readAway()).toBeNull()
})
