import { beforeEach, describe, expect, test } from 'vitest'
import { createPhone, enrollPhone, fromPhone, phoneRegistration, type Phone } from '../page/phone.ts'
import { subscribeBrowser } from '../page/push-service.ts'
import { dataOf } from '../fixtures.ts'
import { acme, clock, installHooks, service } from '../acme.ts'
import { minute } from '../clock.ts'
import { moveDevice } from './moves.ts'

installHooks()

const subscribe = async ({ cookie }: Phone) => {
  const body = subscribeBrowser('https://push.example.com/x').subscription
  dataOf(await fromPhone(service, 'POST', 'push', { cookie, body }))
}

let ada: Phone
let admin: Phone
beforeEach(async () => {
  admin = await createPhone(service, acme.id, 9, { role: 'admin' })
  ada = await createPhone(service, acme.id, 1)
  await subscribe(ada)
  clock.tick(48 * 60 * minute)
})

const notices = async () =>
  (await service.messages('devices')).map(({ channel, to, subject }) =>
    [channel, to, subject].filter(Boolean).join(' '),
  )
const since = async (before: string[]) => (await notices()).slice(before.length)
const another = () => enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
const revoke = (device: string) =>
  service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`)

describe('every device and the e-mail address of the person get a notice', () => {
  test('of a new device, its refusal and a revocation', async () => {
    const before = await notices()
    const tablet = await another()
    expect(await since(before)).toEqual([
      `push ${ada.device}`,
      'email user1@acme.example acme: A device was registered',
    ])
    const registered = await notices()
    dataOf(await moveDevice(service, ada, tablet.device, 'refuse'))
    expect(await since(registered)).toEqual([
      `push ${ada.device}`,
      'email user1@acme.example acme: A device was refused',
    ])
    const refused = await notices()
    dataOf(await revoke(ada.device))
    expect(await since(refused)).toEqual([
      `push ${ada.device}`,
      'email user1@acme.example acme: A device was removed',
    ])
  })

  test.each<[string, () => Promise<unknown>]>([
    [
      'removed',
      () =>
        service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id: ada.user } }),
    ],
    ['deleted', () => service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.user}`)],
  ])('of the end of their devices when they are %s', async (_, leave) => {
    const before = await notices()
    await leave()
    expect(await since(before)).toEqual([
      `push ${ada.device}`,
      'email user1@acme.example acme: Your devices were removed',
    ])
  })

  test('of a new address, at the old one', async () => {
    const before = await notices()
    const path = `/organization/${acme.id}/update/user/${ada.user}`
    dataOf(await service.call('PUT', path, { body: { email: 'mallory@elsewhere.example' } }))
    expect(await since(before)).toEqual([
      `push ${ada.device}`,
      'email user1@acme.example acme: Your e-mail address changed',
    ])
  })

  test('of a recovery, with the administrators', async () => {
    dataOf(await revoke(ada.device))
    const before = await notices()
    const phone = await another()
    expect(await since(before)).toEqual([
      `push ${ada.device}`,
      'email user1@acme.example acme: A device was registered',
      'email user9@acme.example acme: A recovery needs approval',
    ])
    const registered = await notices()
    dataOf(await moveDevice(service, { key: admin.key }, phone.device))
    expect(await since(registered)).toEqual([
      `push ${ada.device}`,
      'email user1@acme.example acme: A recovery was approved',
      'email user9@acme.example acme: A recovery was approved',
    ])
  })

  test('with names, times with their zone, and commands for the organization', async () => {
    dataOf(await revoke(ada.device))
    const phone = await another()
    dataOf(await moveDevice(service, { key: admin.key }, phone.device))
    const emails = (await service.messages('devices')).filter(({ channel }) => channel === 'email')
    const [needed, own, approved] = emails.slice(-3).map(({ text }) => text)
    expect(needed).toMatch(new RegExp(`^\\S+ \\S+ \\(user ${ada.user}\\) has no active device`))
    expect(own).toMatch(
      /It becomes active on \d+ \w+ \d{4} at \d\d:\d\d UTC\. If this was not you, refuse it until then/,
    )
    expect(approved).toContain(`refuse it until then: svc user devices refuse ${phone.device} --org acme`)
  })

  test('of a first device, without advice that needs another device', async () => {
    await createPhone(service, acme.id, 2)
    const first = (await service.messages('devices')).findLast(({ to }) => to === 'user2@acme.example')!
    expect(first.text).toContain(
      'It is active. If this was not you, tell your administrator, who can remove it.',
    )
    expect(first.text).not.toContain('refuse')
  })

  test('without any text that the person typed', async () => {
    const path = `/svc/v1/organizations/${acme.id}/users/${ada.user}/enrollments`
    const { token, challenge, user_handle } = dataOf(await service.call('POST', path, { body: {} }))
    const { response } = phoneRegistration({ challenge, user_handle })
    const body = { token, name: 'Call +1 900 555 0100', response }
    dataOf(await service.call('POST', '/svc/v1/devices', { key: null, body }))
    expect(JSON.stringify(await service.messages('devices'))).not.toContain('900')
  })
})

test('only the answers of an enrollment and of onboarding contain a link', async () => {
  dataOf(await revoke(ada.device))
  const path = `/organization/${acme.id}/user/${ada.user}`
  dataOf(await service.call('POST', `${path}/pending`, { body: {} }))
  const accepted = await service.call('POST', `${path}/accept`, { body: {} })
  const sent = (await service.messages()).filter(({ kind }) => kind === 'enrollment')
  const token = /#enroll=([\w-]{43})/.exec(sent.at(-1)!.text)![1]!
  expect(JSON.stringify(accepted.body)).not.toContain(token)
  for (const list of ['/svc/v1/outbox', `/svc/v1/audit?org_id=${acme.id}`])
    expect(JSON.stringify((await service.call('GET', list)).body)).not.toContain(token)
})
