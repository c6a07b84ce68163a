import { beforeEach, describe, expect, test } from 'vitest'
import { acme, clock, service } from '../acme.ts'
import { answerTo, createPhone, fromPhone, type Phone } from '../page/phone.ts'
import { day } from '../clock.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import { admin, approveAsOperator, installHooks, replacement, revoke } from './lost-device.ts'
import { cookieFor, moveDevice } from './moves.ts'

installHooks()

const makeAdmin = (user_id: string) =>
  service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id } })
const promoteWith = async ({ key, cookie }: Phone, user: string) => {
  const body = { move: 'promote' }
  const begun = await fromPhone(service, 'POST', `members/${user}/challenge`, { cookie, body })
  const { challenge } = dataOf(begun)
  return fromPhone(service, 'POST', `members/${user}/move`, {
    cookie,
    body: { ...body, challenge, response: answerTo(challenge, key) },
  })
}

/** The messages about new administrators. */
const notices = async () =>
  (await service.messages('devices')).filter(({ subject }) => subject === 'acme: A new administrator')

describe('a new administrator', () => {
  let bob: Phone
  beforeEach(async () => {
    bob = await createPhone(service, acme.id, 2)
  })

  test.each<[string, () => Promise<unknown>]>([
    ['make-admin', () => makeAdmin(bob.user)],
    [
      'an update of the role',
      () =>
        service.call('PUT', `/organization/${acme.id}/update/user/${bob.user}`, { body: { role: 'admin' } }),
    ],
  ])('by %s approves recoveries only after the cooling period', async (_, promote) => {
    await promote()
    expect(refusal(await moveDevice(service, bob, replacement.device))).toEqual([403, 'admin_too_new', []])
    clock.tick(day - 1)
    // To be made an admin once more neither shortens nor prolongs it.
    await promote()
    expect(refusal(await moveDevice(service, bob, replacement.device))).toEqual([403, 'admin_too_new', []])
    clock.tick(1)
    dataOf(await moveDevice(service, bob, replacement.device))
  })

  test('who was created as one waits as well, and does not prevent the operator from approving', async () => {
    dataOf(await revoke(admin.device))
    const carol = await createPhone(service, acme.id, 3, { role: 'admin' })
    expect(refusal(await moveDevice(service, carol, replacement.device))).toEqual([403, 'admin_too_new', []])
    dataOf(await approveAsOperator())
  })

  test('who was promoted with the device of an administrator can approve immediately', async () => {
    expect(dataOf(await promoteWith(admin, bob.user))).toMatchObject({ user_id: bob.user })
    dataOf(await moveDevice(service, bob, replacement.device))
  })

  test('cannot end the cooling period of another if theirs is not over', async () => {
    await makeAdmin(bob.user)
    const carol = await createPhone(service, acme.id, 3)
    dataOf(await promoteWith(bob, carol.user))
    expect(refusal(await moveDevice(service, carol, replacement.device))).toEqual([403, 'admin_too_new', []])
  })

  test('waits its whole period again if the clock was ahead', async () => {
    await makeAdmin(bob.user)
    clock.tick(-400 * day)
    const cookie = await cookieFor(service, bob.key)
    const approve = () => moveDevice(service, { key: bob.key, cookie }, replacement.device)
    expect(refusal(await approve())).toEqual([403, 'admin_too_new', []])
    clock.tick(day - 1)
    expect(refusal(await approve())).toEqual([403, 'admin_too_new', []])
    clock.tick(1)
    dataOf(await approve())
  })

  test('is reported to the other administrators', async () => {
    await createMember(service, acme.id, 7, { role: 'admin' })
    expect((await notices()).map(({ to }) => to)).toEqual(['user9@acme.example'])
    await makeAdmin(bob.user)
    expect((await notices()).map(({ to }) => to)).toEqual([
      'user9@acme.example',
      'user9@acme.example',
      'user7@acme.example',
    ])
  })
})
