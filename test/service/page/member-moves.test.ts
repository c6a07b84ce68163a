import { describe, expect, test } from 'vitest'
import { acme, clock, service } from '../acme.ts'
import { minute } from '../clock.ts'
import { auditOf, chainOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService } from '../harness.ts'
import { admin, hold, installHooks, list, member, waiting } from './members-stage.ts'
import { answerTo, begin, createPhone, fromPhone, type Phone } from './phone.ts'

installHooks()

type Move = 'accept' | 'reject' | 'hold' | 'promote' | 'link'

const stateOf = async (user: string): Promise<string> =>
  dataOf(await service.call('GET', `/organization/${acme.id}/user/${user}`)).state
const beginMove = ({ cookie }: Phone, user: string, move: Move) =>
  fromPhone(service, 'POST', `members/${user}/challenge`, { cookie, body: { move } })
const send = ({ cookie }: Phone, user: string, move: Move, challenge: string, response: unknown) =>
  fromPhone(service, 'POST', `members/${user}/move`, { cookie, body: { move, challenge, response } })
const moved = async (phone: Phone, user: string, move: Move) => {
  const { challenge } = dataOf(await beginMove(phone, user, move))
  return send(phone, user, move, challenge, answerTo(challenge, phone.key))
}

describe('a move', () => {
  test.each<[Move, () => string, string, string, string]>([
    ['accept', () => waiting.id, 'active', 'accepted', 'acceptUser'],
    ['reject', () => waiting.id, 'rejected', 'rejected', 'rejectUser'],
    ['hold', () => member.user, 'pending', 'held', 'holdUser'],
  ])('to %s, signed by an admin, is in the audit as its command', async (move, who, state, done, action) => {
    expect(dataOf(await moved(admin, who(), move))).toMatchObject({ user_id: who(), state })
    expect(await stateOf(who())).toBe(state)
    const rows = await chainOf(service, acme.id)
    expect(rows.findLast((one) => one.changes.includes('state'))).toMatchObject({
      action,
      actor: `user:${admin.user} (device ${admin.device})`,
      subject: `user:${who()}`,
      changes: ['state', done],
    })
  })

  test('to accept says how the enrollment link is sent, and does not contain it', async () => {
    const answer = await moved(admin, waiting.id, 'accept')
    const { enrollment } = dataOf(answer)
    expect(enrollment).toMatchObject({ channel: 'sms', next: null })
    expect(JSON.stringify(answer.body)).not.toContain('#enroll=')
    expect(dataOf(await moved(admin, waiting.id, 'hold')).enrollment).toBeNull()
  })

  test('that is not possible in the present state is refused', async () => {
    const { challenge } = dataOf(await beginMove(admin, waiting.id, 'accept'))
    await service.call('POST', `/organization/${acme.id}/user/${waiting.id}/accept`, { body: {} })
    const late = await send(admin, waiting.id, 'accept', challenge, answerTo(challenge, admin.key))
    expect(refusal(late)).toEqual([409, 'user_active', []])
  })

  test('ends the devices of a rejected user', async () => {
    await hold(member.user)
    dataOf(await moved(admin, member.user, 'reject'))
    const devices = dataOf(
      await service.call('GET', `/svc/v1/organizations/${acme.id}/users/${member.user}/devices`),
    )
    expect(devices).toMatchObject([{ revoked_at: clock.iso() }])
  })

  test('of oneself is refused, because nobody could undo that for the last administrator', async () => {
    expect(refusal(await beginMove(admin, admin.user, 'hold'))).toEqual([409, 'own_membership', []])
  })

  test('is signed for exactly this move, within sixteen minutes, once', async () => {
    const over = [410, 'challenge_over', []]
    const { challenge } = dataOf(await beginMove(admin, waiting.id, 'accept'))
    const response = answerTo(challenge, admin.key)
    expect(refusal(await send(admin, waiting.id, 'reject', challenge, response))).toEqual(over)
    expect(refusal(await send(admin, member.user, 'accept', challenge, response))).toEqual(over)
    dataOf(await send(admin, waiting.id, 'accept', challenge, response))
    await hold(waiting.id)
    expect(refusal(await send(admin, waiting.id, 'accept', challenge, response))).toEqual(over)
    const session = await begin(service)
    const other = await send(admin, waiting.id, 'accept', session, answerTo(session, admin.key))
    expect(refusal(other)).toEqual(over)
    const { challenge: late } = dataOf(await beginMove(admin, waiting.id, 'accept'))
    clock.tick(16 * minute)
    const answer = await send(admin, waiting.id, 'accept', late, answerTo(late, admin.key))
    expect(refusal(answer)).toEqual(over)
    expect(await stateOf(waiting.id)).toBe('pending')
  })

  test('does not open a session with its challenge', async () => {
    const { challenge } = dataOf(await beginMove(admin, waiting.id, 'accept'))
    const body = { challenge, response: answerTo(challenge, admin.key) }
    expect(refusal(await fromPhone(service, 'POST', 'session', { body }))).toEqual([
      410,
      'challenge_over',
      [],
    ])
  })

  test.each<[string, (challenge: string) => unknown]>([
    ['another challenge', () => answerTo('AAAA', admin.key)],
    ['no check of the user', (challenge) => answerTo(challenge, admin.key, false)],
  ])('with %s is refused', async (_, make) => {
    const { challenge } = dataOf(await beginMove(admin, waiting.id, 'accept'))
    const answer = await send(admin, waiting.id, 'accept', challenge, make(challenge))
    expect(refusal(answer)).toEqual([403, 'assertion_refused', []])
    expect(await stateOf(waiting.id)).toBe('pending')
  })

  test("cannot be signed by another device, not even another administrator's", async () => {
    const second = await createPhone(service, acme.id, 4, { role: 'admin' })
    const { challenge } = dataOf(await beginMove(admin, waiting.id, 'accept'))
    const answer = await send(admin, waiting.id, 'accept', challenge, answerTo(challenge, second.key))
    expect(refusal(answer)).toEqual([403, 'device_not_registered', []])
    const other = await send(second, waiting.id, 'accept', challenge, answerTo(challenge, second.key))
    expect(refusal(other)).toEqual([410, 'challenge_over', []])
  })
})

test('a member who is an administrator already is not promoted once more', async () => {
  dataOf(await moved(admin, member.user, 'promote'))
  expect(refusal(await moved(admin, member.user, 'promote'))[1]).toBe('user_admin')
  const promotions = (await auditOf(service, acme.id)).filter(([, , changes]) => changes.includes('promoted'))
  expect(promotions).toHaveLength(1)
})

const link = (user: string) => moved(admin, user, 'link')

describe('a link for a member without a device', () => {
  test('is sent to the member, and not shown', async () => {
    const lost = await createMember(service, acme.id, 5)
    const answer = await link(lost.id)
    expect(dataOf(answer)).toMatchObject({ state: 'active', enrollment: { channel: 'sms', next: null } })
    expect(JSON.stringify(answer.body)).not.toContain('#enroll=')
    expect((await service.messages()).at(-1)).toMatchObject({ to: '+12025550105', kind: 'enrollment' })
  })

  test('is refused while a device is active, and for a member who is not', async () => {
    expect(refusal(await link(member.user))).toEqual([409, 'device_active', []])
    expect(refusal(await link(waiting.id))).toEqual([409, 'user_pending', []])
  })

  test('is refused with the next step where nothing can be sent', async () => {
    const silent = await startTestService({ channels: [] })
    const { id: org } = await createTenant(silent, 'acme')
    const { cookie, key } = await createPhone(silent, org, 1, { role: 'admin' })
    const { id } = await createMember(silent, org, 2)
    const ask = (step: string, body: object) =>
      fromPhone(silent, 'POST', `members/${id}/${step}`, { cookie, body: { move: 'link', ...body } })
    const { challenge } = dataOf(await ask('challenge', {}))
    const answer = await ask('move', { challenge, response: answerTo(challenge, key) })
    expect(refusal(answer)).toEqual([409, 'link_not_sent', []])
    expect(answer.body.data.hint).toBe(`svc user enroll ${id} --org acme`)
    await silent.close()
  })
})

describe('a member who is not an administrator', () => {
  const only = [403, 'admin_only', []]

  test('can neither see nor move anybody', async () => {
    expect(refusal(await list(member))).toEqual(only)
    expect(refusal(await beginMove(member, waiting.id, 'accept'))).toEqual(only)
    const { challenge } = dataOf(await beginMove(admin, waiting.id, 'accept'))
    const stolen = await send(member, waiting.id, 'accept', challenge, answerTo(challenge, member.key))
    expect(refusal(stolen)).toEqual([410, 'challenge_over', []])
  })

  test('cannot finish a move that they began as an administrator', async () => {
    const { challenge } = dataOf(await beginMove(admin, waiting.id, 'accept'))
    const body = {
      email: 'ada@acme.example',
      country_code: '+1',
      mobile: '2025550101',
      first_name: 'Ada',
      last_name: 'Lovelace',
      role: 'member',
    }
    dataOf(await service.call('PUT', `/organization/${acme.id}/update/user/${admin.user}`, { body }))
    const answer = await send(admin, waiting.id, 'accept', challenge, answerTo(challenge, admin.key))
    expect(refusal(answer)).toEqual(only)
    expect(await stateOf(waiting.id)).toBe('pending')
    expect((await auditOf(service, acme.id)).some(([action]) => action === 'acceptUser')).toBe(false)
  })

  test('cannot find members of another organization', async () => {
    const other = await createTenant(service, 'other')
    const elsewhere = await createPhone(service, other.id, 5, { role: 'admin' })
    expect(dataOf(await list(elsewhere))).toEqual({ members: [], total: 0 })
    expect(refusal(await moved(elsewhere, waiting.id, 'accept'))).toEqual([404, 'not_found', []])
  })
})
