import { beforeEach, describe, expect, test } from 'vitest'
import { ask, decide, show } from '../approver.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import { addDevice } from '../page/added-device.ts'
import { fromPhone, type Phone, registerPhone } from '../page/phone.ts'
import { acme, ada, clock, installHooks, service } from './oauth-stage.ts'
import {
  create,
  createAdministrator,
  createConsented,
  installation,
  signIn,
  whoIs,
} from './terminal-stage.ts'

installHooks()

let grace: Phone
beforeEach(async () => void (grace = await createAdministrator(2)))

const consented = (management: string, scopes: string[]): Promise<string> =>
  createConsented(grace, management, scopes)

describe('a key that a signed-in person creates', () => {
  test('needs their own yes, is theirs, and outlives the sign-in', async () => {
    const { management_token } = await signIn(grace)
    const held = await create(management_token!)
    const { request } = held.body.data
    expect(request.lines[0].people.map(({ user_id }: { user_id: string }) => user_id)).toEqual([grace.user])
    expect((await create(management_token!, { 'x-svc-approval': request.request_id })).status).toBe(409)
    dataOf(await decide(service, request.request_id, grace.key, { decision: 'approve' }))
    const made = dataOf(await create(management_token!, { 'x-svc-approval': request.request_id }))
    expect(made).toMatchObject({ owner_user_id: grace.user, created_by: null, expires_at: null })
    clock.tick(30 * 86_400_000)
    const own = dataOf(await whoIs(made.key))
    expect(own.owner_confirmed_at).not.toBeNull()
  })

  test('manages only while its person is an administrator; one that asks goes on', async () => {
    const { management_token } = await signIn(grace)
    const manages = await consented(management_token!, ['people'])
    const asks = await consented(management_token!, ['ask'])
    const path = `/organization/${acme.id}/update/user/${grace.user}`
    dataOf(await service.call('PUT', path, { key: acme.key, body: { role: 'member' } }))
    expect([(await whoIs(manages)).status, (await whoIs(asks)).status]).toEqual([401, 200])
  })

  test('belongs to nobody else', async () => {
    const { management_token } = await signIn(grace)
    const refused = await create(management_token!, {}, { owner_user_id: ada.user })
    expect(refusal(refused)).toEqual([422, 'invalid_field', ['owner_user_id']])
  })

  test('can be given nothing that the terminal cannot do', async () => {
    const { management_token } = await signIn(grace, { scope: 'ask keys' })
    expect(refusal(await create(management_token!))[1]).toBe('scope_missing')
  })

  test('is also possible where nobody else approves their own requests', async () => {
    const policy = { not_requester: true }
    dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy } }))
    const { management_token } = await signIn(grace)
    expect(refusal(await create(management_token!))[1]).toBe('approval_required')
  })
})

/** A key that was created by one which an administrator created with their own yes. */
const childOfConsented = async (management: string): Promise<string> => {
  const key = await consented(management, ['keys', 'devices'])
  const body = { name: 'child', scopes: ['devices'] }
  return dataOf(await service.call('POST', '/svc/v1/keys', { key, body })).key
}

test.each(['terminal', 'key'])(
  'a phone that an administrator enrolled with their %s is not separated',
  async (by) => {
    const { access_token, management_token } = await signIn(grace)
    const enrolling = by === 'terminal' ? management_token! : await childOfConsented(management_token!)
    const bob = await createMember(service, acme.id, 3)
    const path = `/svc/v1/organizations/${acme.id}/users/${bob.id}/enrollments`
    const { token } = dataOf(await service.call('POST', path, { key: enrolling, body: {} }))
    const phone = await registerPhone(service, token, bob)
    const answer = dataOf(await ask(service, phone, {}, access_token))
    dataOf(await decide(service, answer.request_id, phone.key, { decision: 'approve' }))
    const { attestation } = dataOf(await show(service, answer.request_id, access_token))
    expect(attestation.claims.device.enrolled_by).toMatchObject({ relation: 'creator' })
  },
)

test('a sign-in that ends while the body of a call arrives says so', async () => {
  const { management_token } = await signIn(grace)
  const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const headers = {
    'x-api-key': management_token!,
    'content-type': 'application/json',
    host: '127.0.0.1:8080',
  }
  const request = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const pending = service.app.request('http://127.0.0.1:8080/svc/v1/keys', request)
  await writer.write(new TextEncoder().encode('{"name":"ci",'))
  clock.tick(9 * 3_600_000)
  await writer.write(new TextEncoder().encode('"scopes":["read"]}'))
  await writer.close()
  const answer = await pending
  expect([answer.status, JSON.parse(await answer.text()).data.code]).toEqual([401, 'signed_out'])
})

const listed = async ({ cookie } = grace) =>
  dataOf(await fromPhone(service, 'GET', 'agents', { cookie })).agents

describe('on the approver page', () => {
  test('a terminal is one entry, which ends both of its keys', async () => {
    const [{ access_token, management_token }, other] = [
      await signIn(grace),
      await signIn(grace, { id: installation('b') }),
    ]
    clock.tick(60_000)
    dataOf(await whoIs(management_token!))
    await expect.poll(async () => (await listed())[0].last_used_at).toBe(clock.iso())
    const [one, ...others] = await listed()
    expect(one.name).toBe('svc on ada-laptop')
    expect(others).toMatchObject([{ name: 'svc on ada-laptop 2' }])
    dataOf(await fromPhone(service, 'POST', `agents/${one.id}/revocation`, { cookie: grace.cookie }))
    for (const key of [access_token, management_token!]) expect((await whoIs(key)).status).toBe(401)
    expect((await whoIs(other.management_token!)).status).toBe(200)
    // Its use is recorded later.
    expect(await listed()).toMatchObject([{ id: others[0].id }])
  })

  test('a terminal whose device was removed is not listed', async () => {
    await signIn(grace)
    const second = await addDevice(service, grace, 'Tablet')
    expect(await listed(second)).toHaveLength(1)
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${grace.device}`))
    expect(await listed(second)).toEqual([])
  })
})
