import { beforeEach, describe, expect, test } from 'vitest'
import { acme, clock, service } from '../acme.ts'
import { decide } from '../approver.ts'
import { minute } from '../clock.ts'
import { chainOf, createMember, dataOf, refusal, twinText } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { at, holdCalls } from '../rule-fixture.ts'
import { admin, installHooks, member, waiting } from './members-stage.ts'
import { answerTo, createPhone, fromPhone, type Phone, readInbox, registerPhone } from './phone.ts'

// A rule of the organization holds what an administrator does on the page. Only Ada approves it.

installHooks()

let ada: Phone
let second: Phone
let rule: string
const release = async (): Promise<void> => dataOf(await service.call('DELETE', at(acme.id, `rules/${rule}`)))
const hold = async (operations: string[], ...approvers: Phone[]): Promise<void> => {
  const members = approvers.map(({ user }) => user)
  rule = (await holdCalls(service, acme.id, operations, members)).rule
}
beforeEach(async () => {
  ada = await createPhone(service, acme.id, 4)
  second = await createPhone(service, acme.id, 5, { role: 'admin' })
  rule = (await holdCalls(service, acme.id, ['user', 'approve mutes'], [ada.user])).rule
})

const begin = async ({ cookie, key }: Phone, user: string, move: string) => {
  const { challenge } = dataOf(
    await fromPhone(service, 'POST', `members/${user}/challenge`, { cookie, body: { move } }),
  )
  return { move, challenge, response: answerTo(challenge, key) }
}
const send = ({ cookie }: Phone, user: string, body: object, approval?: string): Promise<Answer> =>
  service.call('POST', `/svc/v1/approver/members/${user}/move`, {
    key: null,
    body,
    headers: {
      host: 'localhost:8080',
      origin: 'http://localhost:8080',
      cookie,
      ...(approval !== undefined && { 'x-svc-approval': approval }),
    },
  })
const held = async (phone: Phone, user: string, move: string) => {
  const body = await begin(phone, user, move)
  const { status, body: answered } = await send(phone, user, body)
  expect([status, answered.data.code]).toEqual([403, 'approval_required'])
  const { request_id, lines } = answered.data.request
  return { body, people: lines[0].people, id: request_id as string }
}
const userOf = async (user: string) =>
  dataOf(await service.call('GET', `/organization/${acme.id}/user/${user}`))
const answerBy = (phone: Phone, id: string, decision: 'approve' | 'deny' = 'approve') =>
  decide(service, id, phone.key, { decision })

describe('a change of a member on the page', () => {
  test('waits for the approver of a rule, who reads who asks for what', async () => {
    const { id, people } = await held(admin, member.user, 'promote')
    expect(people).toMatchObject([{ user_id: ada.user, name: 'Ada Lovelace', answer: 'pending' }])
    expect((await userOf(member.user)).role).toBe('member')
    const { requests: inbox } = await readInbox(service, ada)
    expect(inbox).toMatchObject([
      {
        request_id: id,
        origin: {
          via: 'rule',
          claimed_name: null,
          credential: { kind: 'member', owner: { user_id: admin.user, confirmed: true } },
        },
      },
    ])
    expect(inbox[0].subject.data).toMatchObject({
      operation: 'makeAdmin',
      body: { user_id: Number(member.user), user: twinText(member.user) },
    })
    expect(inbox[0].subject.summary).toBe(`Make admin in acme: ${twinText(member.user)}`)
  })

  test('is made when the same session repeats it with the approval, once', async () => {
    const { id, body } = await held(admin, member.user, 'promote')
    expect(refusal(await send(admin, member.user, body, id))).toEqual([403, 'approval_required', []])
    clock.tick(4 * minute)
    dataOf(await answerBy(ada, id))
    clock.tick(9 * minute)
    expect(dataOf(await send(admin, member.user, body, id))).toMatchObject({ role: 'admin' })
    expect((await chainOf(service, acme.id)).findLast(({ action }) => action === 'makeAdmin')).toMatchObject({
      actor: `user:${admin.user} (device ${admin.device})`,
      changes: expect.arrayContaining([`approval:${id}`]),
    })
    const again = await begin(admin, member.user, 'promote')
    expect((await send(admin, member.user, again, id)).status).not.toBe(200)
  })

  test('is not made after a denial or without an answer', async () => {
    const denied = await held(admin, member.user, 'promote')
    dataOf(await answerBy(ada, denied.id, 'deny'))
    const refused = await send(admin, member.user, denied.body, denied.id)
    expect(refusal(refused)).toEqual([403, 'denied', []])
    expect(refused.body.data.denied_by).toBe('Ada Lovelace')
    const late = await held(admin, member.user, 'hold')
    clock.tick(6 * minute)
    expect(refusal(await send(admin, member.user, late.body, late.id))).toEqual([410, 'expired', []])
    expect(await userOf(member.user)).toMatchObject({ role: 'member', state: 'active' })
  })

  test('is not made with the approval of another change, member or session', async () => {
    const { id } = await held(admin, member.user, 'promote')
    dataOf(await answerBy(ada, id))
    const other = await begin(admin, member.user, 'hold')
    expect(refusal(await send(admin, member.user, other, id))).toEqual([422, 'other_subject', ['digest']])
    const another = await begin(admin, waiting.id, 'accept')
    expect(refusal(await send(admin, waiting.id, another, id))[0]).toBe(422)
    const theirs = await begin(second, member.user, 'promote')
    expect(refusal(await send(second, member.user, theirs, id))).toEqual([404, 'not_found', []])
    expect((await userOf(member.user)).role).toBe('member')
  })

  test.each(['accept', 'reject', 'hold'])('to %s waits too', async (move) => {
    const { people } = await held(admin, move === 'hold' ? member.user : waiting.id, move)
    expect(people).toHaveLength(1)
  })

  test('that its only approver wants to make is refused clearly', async () => {
    await release()
    await hold(['user'], admin)
    const body = await begin(admin, member.user, 'promote')
    expect(refusal(await send(admin, member.user, body))).toEqual([409, 'not_enough_approvers', []])
    expect((await userOf(member.user)).role).toBe('member')
  })

  test('that one of two approvers makes is asked of the other alone', async () => {
    await release()
    await hold(['user'], admin, ada)
    const { people } = await held(admin, member.user, 'promote')
    expect(people.map(({ user_id }: { user_id: string }) => user_id)).toEqual([ada.user])
  })
})

const separate = async (separation: 'standard' | 'strict') => {
  const body = { policy: { separation } }
  return dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body }))
}

/** A member with a phone that `key` registered. */
const phoneOf = async (n: number, key: string | undefined, more: object = {}): Promise<Phone> => {
  const user = await createMember(service, acme.id, n, more)
  const path = `/svc/v1/organizations/${acme.id}/users/${user.id}/enrollments`
  const { token } = dataOf(await service.call('POST', path, { key, body: {} }))
  return registerPhone(service, token, user)
}

describe('under strict separation, a change by an administrator whose phone a key registered', () => {
  beforeEach(release)

  test('is not approved with another phone of that key', async () => {
    const mal = await phoneOf(6, acme.key, { role: 'admin' })
    const twin = await phoneOf(7, acme.key)
    await hold(['user'], twin)
    await separate('strict')
    const asked = await begin(mal, member.user, 'promote')
    expect(refusal(await send(mal, member.user, asked))).toEqual([409, 'approver_not_separated', []])
    await separate('standard')
    const { id } = await held(mal, member.user, 'promote')
    await separate('strict')
    expect(refusal(await answerBy(twin, id))).toEqual([403, 'device_not_separated', []])
    await separate('standard')
    expect(dataOf(await answerBy(twin, id)).attestation.claims.device.enrolled_by.relation).toBe('creator')
  })

  test('is approved with a phone that another key registered', async () => {
    const mal = await phoneOf(6, acme.key, { role: 'admin' })
    await hold(['user'], ada)
    await separate('strict')
    const { id } = await held(mal, member.user, 'promote')
    expect(dataOf(await answerBy(ada, id)).attestation.claims.device.enrolled_by.relation).toBe('operator')
  })
})

test('what a person does to their own devices waits for nobody', async () => {
  const { cookie } = member
  const path = `devices/${member.device}/name`
  expect((await fromPhone(service, 'POST', path, { cookie, body: { name: 'Mine' } })).status).toBe(200)
})
