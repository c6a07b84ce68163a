import { expect, test } from 'vitest'
import { createSoftwareKey, register } from '../../../src/client/software-authenticator.ts'
import { acme, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide, enroll } from '../approver.ts'
import { createMember, dataOf, fence, refusal } from '../fixtures.ts'
import { holdCalls } from '../rule-fixture.ts'

// What several keys of one hand could do together.

installHooks()

const keyWith = async (scopes: string[], key?: string): Promise<{ id: number; key: string }> =>
  dataOf(
    await service.call('POST', '/svc/v1/keys', {
      key,
      body: { name: `key ${scopes.join()}`, org_id: acme.id, scopes },
    }),
  )

test('a device that a sibling of the asking key enrolled is shown as enrolled by its creator', async () => {
  const { key } = await keyWith(['all'])
  const enrolls = await keyWith(['devices'], key)
  const asks = await keyWith(['ask'], key)
  const bob = await createMember(service, acme.id, 2)
  const phone = await enroll(service, acme.id, bob.id, 'ES256', enrolls.key)
  const { request_id } = dataOf(await ask(service, bob, {}, asks.key))
  const { attestation } = dataOf(await decide(service, request_id, phone.key))
  expect(attestation.claims.device.enrolled_by.relation).toBe('creator')
})

test('a device that the calling key enrolled approves no call of that key', async () => {
  const mallory = await keyWith(['all'])
  const bob = await createMember(service, acme.id, 2)
  const phone = await enroll(service, acme.id, bob.id, 'ES256', mallory.key)
  await holdCalls(service, acme.id, ['geofence create'], [bob.id])
  const create = (headers = {}) =>
    service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
      key: mallory.key,
      body: { ...fence, is_active: 0 },
      headers,
    })
  expect(refusal(await create())).toEqual([409, 'not_enough_approvers', []])
  const { request_id } = dataOf(await ask(service, bob, {}, mallory.key))
  dataOf(await decide(service, request_id, phone.key))
  expect((await create({ 'x-svc-approval': request_id })).status).not.toBe(200)
})

test('a link of a key that was revoked registers nothing', async () => {
  const mallory = await keyWith(['devices'])
  const bob = await createMember(service, acme.id, 2)
  const path = `/svc/v1/organizations/${acme.id}/users/${bob.id}/enrollments`
  const link = dataOf(await service.call('POST', path, { key: mallory.key, body: {} }))
  expect((await service.call('DELETE', `/svc/v1/keys/${mallory.id}`)).status).toBe(200)
  const phone = createSoftwareKey('ES256', { rpId: link.rp_id, userHandle: link.user_handle })
  const response = register(phone, { challenge: link.challenge, origin: link.origin, rpId: link.rp_id })
  const body = { token: link.token, name: 'Key file', response }
  expect(refusal(await service.call('POST', '/svc/v1/devices', { key: null, body }))).toEqual([
    410,
    'enrollment_over',
    [],
  ])
})
