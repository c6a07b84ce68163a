import { describe, expect, test } from 'vitest'
import { day } from '../clock.ts'
import { auditOf, chainOf, contentsOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { moveDevice } from '../devices/moves.ts'
import { startTestService } from '../harness.ts'
import {
  answerTo,
  begin,
  cookieOf,
  enrollPhone,
  fromPhone,
  linkFor,
  phoneRegistration,
  withoutConfirmation,
} from './phone.ts'
import { acme, ada, clock, installHooks, openSession, service } from './visit.ts'

installHooks()

const closedFor = async (cookie: string): Promise<unknown[]> =>
  dataOf(await fromPhone(service, 'GET', 'sessions', { cookie })).closed
const whoami = (cookie?: string) => fromPhone(service, 'GET', 'session', { cookie })

describe('a session', () => {
  test('opens with the registration and shows the person at the page', async () => {
    expect(dataOf(await whoami(ada.cookie))).toEqual({
      first_name: 'Ada',
      org_id: acme.id,
      organization: 'acme',
      organizations: [acme.id],
      role: 'member',
      device_id: ada.device,
      device_name: 'Pixel',
      only_device: true,
      credential_id: ada.key.credential_id,
      rp_id: 'localhost',
      wants_location: false,
      push_key: expect.stringMatching(/^[\w-]{87}$/),
      subscribed: false,
      push_hashes: [],
    })
  })

  test('is a cookie that no script reads and no other site sends, and is stored as a hash', async () => {
    const challenge = await begin(service)
    const answer = await openSession(challenge, answerTo(challenge, ada.key))
    expect(answer.headers['set-cookie']).toMatch(
      /^svc-approver-1=[\w-]{43}\.[\w.-]+; Max-Age=34560000; Path=\/svc\/v1\/approver; HttpOnly; SameSite=Strict$/,
    )
    expect(JSON.stringify(await contentsOf(service))).not.toContain(
      withoutConfirmation(cookieOf(answer)).split('=')[1],
    )
    expect(dataOf(await whoami(cookieOf(answer)))).toMatchObject({ device_id: ada.device })
    const rows = await chainOf(service, acme.id)
    expect(rows.at(-1)).toMatchObject({
      action: 'openSession',
      actor: `user:${ada.user} (device ${ada.device})`,
      subject: `device:${ada.device}`,
      changes: ['session'],
    })
  })

  test.each([
    ['no cookie', undefined],
    ['a cookie of another service', 'other=1'],
    ['a made-up token', `svc-approver=${'x'.repeat(43)}`],
    ['a token that is none', 'svc-approver='],
  ])('is none with %s', async (_, cookie) => {
    expect(refusal(await whoami(cookie))).toEqual([401, 'session_over', []])
    expect(refusal(await fromPhone(service, 'GET', 'devices', { cookie }))).toEqual([401, 'session_over', []])
  })

  test('is not an API key, nor is a key a session', async () => {
    const { status } = await service.call('GET', '/svc/v1/approvals', {
      key: null,
      headers: { cookie: ada.cookie },
    })
    expect(status).toBe(401)
    const answer = await service.call('GET', '/svc/v1/approver/session')
    expect(refusal(answer)).toEqual([401, 'session_over', []])
  })

  test('ends when the user leaves the page, on that device only', async () => {
    const challenge = await begin(service)
    const other = cookieOf(await openSession(challenge, answerTo(challenge, ada.key)))
    const answer = await fromPhone(service, 'DELETE', 'session', { cookie: ada.cookie })
    expect(answer.status).toBe(200)
    expect(answer.headers['set-cookie']).toMatch(/^svc-approver-1=; .*Max-Age=0/)
    expect(refusal(await whoami(ada.cookie))).toEqual([401, 'session_over', []])
    dataOf(await whoami(other))
  })

  test.each<[string, string, () => Promise<unknown>]>([
    [
      'its device is revoked',
      'device_revoked',
      () => service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`),
    ],
    [
      'its user is put on hold',
      'member_on_hold',
      () => service.call('POST', `/organization/${acme.id}/user/${ada.user}/pending`, { body: {} }),
    ],
    [
      'its user is removed',
      'not_a_member',
      () =>
        service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id: ada.user } }),
    ],
    [
      'its user is deleted',
      'not_a_member',
      () => service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.user}`),
    ],
    [
      'its organization is deleted',
      'device_not_registered',
      () => service.call('DELETE', `/organization/${acme.id}/delete`),
    ],
  ])('ends when %s, and signing in is refused with %s', async (title, reason, end) => {
    const challenge = await begin(service)
    dataOf(await whoami(ada.cookie))
    await end()
    expect(refusal(await whoami(ada.cookie))).toEqual([401, 'session_over', []])
    // What is deleted is not kept for this either.
    const said = title.endsWith('deleted') ? [] : [{ org_id: acme.id, code: reason, organization: 'acme' }]
    expect(await closedFor(ada.cookie)).toMatchObject(said)
    const again = await openSession(challenge, answerTo(challenge, ada.key))
    expect(refusal(again)).toEqual([403, reason, []])
  })

  test('says nothing about why to whoever has no cookie of it', async () => {
    await service.call('POST', `/organization/${acme.id}/user/${ada.user}/pending`, { body: {} })
    const [name, token] = ada.cookie.split('=')
    const globex = await createTenant(service, 'globex')
    for (const cookie of ['', `${name}=${'x'.repeat(43)}`, `svc-approver-${globex.id}=${token}`])
      expect(await closedFor(cookie)).toEqual([])
    expect(await closedFor(ada.cookie)).toHaveLength(1)
    clock.tick(91 * day)
    expect(await closedFor(ada.cookie)).toEqual([])
  })

  test('of a device that waits only says why, and counts once the device is active', async () => {
    const tablet = await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
    expect(refusal(await whoami(tablet.cookie))).toEqual([401, 'session_over', []])
    expect(await closedFor(tablet.cookie)).toMatchObject([
      { code: 'device_pending', device: { proof: 'device', active_from: null } },
    ])
    dataOf(await moveDevice(service, ada, tablet.device))
    expect(dataOf(await whoami(tablet.cookie))).toMatchObject({ device_id: tablet.device })
    expect(await closedFor(tablet.cookie)).toEqual([])
  })

  test('is refused to a removed device with the name of the organization', async () => {
    await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`)
    const challenge = await begin(service)
    const answer = await openSession(challenge, answerTo(challenge, ada.key))
    expect(answer.body).toMatchObject({ data: { organization: 'acme', pending: [] } })
  })

  test('says nothing about its owner to a device that did not sign', async () => {
    await service.call('POST', `/organization/${acme.id}/user/${ada.user}/pending`, { body: {} })
    const challenge = await begin(service)
    const answer = await openSession(challenge, answerTo(challenge, ada.key, false))
    expect(refusal(answer)).toEqual([403, 'assertion_refused', []])
  })

  test('lasts for 90 days after it was last used', async () => {
    for (let i = 0; i < 4; i++) {
      clock.tick(60 * day)
      dataOf(await whoami(ada.cookie))
      // After the write that keeps the session open.
      await service.storage.write(async () => undefined, { org: null })
    }
    clock.tick(90 * day)
    expect(refusal(await whoami(ada.cookie))).toEqual([401, 'session_over', []])
  })

  test('has a cookie for https only if the site uses https', async () => {
    const service = await startTestService({
      publicUrl: 'https://svc.example.com',
      entry: { publicUrl: 'https://svc.example.com' },
    })
    const acme = await createTenant(service, 'acme')
    const bob = await createMember(service, acme.id, 2)
    const token = await linkFor(service, acme.id, bob.id)
    const where = { origin: 'https://svc.example.com', rpId: 'svc.example.com' }
    const headers = { host: 'svc.example.com', origin: where.origin }
    const ceremony = dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token }, headers }))
    const body = { token, name: 'x', response: phoneRegistration(ceremony, where).response }
    const answer = await service.call('POST', '/svc/v1/devices', { key: null, body })
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-svc-approver-1=[\w-]{43}\.[\w.-]+; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    )
    const whoami = (cookie: string) => fromPhone(service, 'GET', 'session', { cookie })
    dataOf(await whoami(cookieOf(answer)))
    expect(refusal(await whoami(cookieOf(answer).replace('__Host-', '')))[0]).toBe(401)
    // A page of another host in the same domain can set one of this name.
    expect(refusal(await whoami(cookieOf(answer).replace('__Host-', '__Secure-')))[0]).toBe(401)
    await service.close()
  })
})

test('the audit of the organization shows registrations, sign-ins and sign-outs', async () => {
  await fromPhone(service, 'DELETE', 'session', { cookie: ada.cookie })
  expect((await auditOf(service, acme.id)).slice(-2)).toEqual([
    ['registerDevice', `device:${ada.device}`, ['name', 'kind', 'state']],
    ['closeSession', `device:${ada.device}`, ['session']],
  ])
})
