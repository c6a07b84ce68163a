import { describe, expect, test } from 'vitest'
import type { Phone } from '../page/phone.ts'
import {
  acme,
  clock,
  createUser,
  enrollWith,
  installHooks,
  moveUser,
  registerPhone,
  sentToken,
  service,
} from '../approvals/one-key.ts'
import { dataOf, refusal } from '../fixtures.ts'

// One key of acme with every scope, and the phone of one of its members, try to become administrators without an origin.

installHooks()

const groups = () => `/svc/v1/organizations/${acme.id}/groups`
const makeAdmin = async (user: string, key?: string) => {
  clock.tick(1000)
  dataOf(await service.call('POST', '/make-admin', { key, body: { org_id: acme.id, user_id: user } }))
}
const demote = async (user: string, key?: string) => {
  clock.tick(1000)
  const path = `/organization/${acme.id}/update/user/${user}`
  dataOf(await service.call('PUT', path, { key, body: { role: 'member' } }))
}
const byOperator = async (n: number): Promise<Phone> =>
  enrollWith(await createUser(n, service.operatorKey), service.operatorKey)

/** Bob, a member of the group whose phone was stolen, and Mal, whom he makes an administrator. */
const stage = async () => {
  const [ada, bob] = [await byOperator(1), await byOperator(3)]
  dataOf(await service.call('POST', groups(), { body: { name: 'dba', members: [ada.user, bob.user] } }))
  await makeAdmin(bob.user, acme.key)
  const user = await createUser(66)
  dataOf(await moveUser(bob, user.id, 'link'))
  const mal = await registerPhone(user, await sentToken())
  clock.tick(1000)
  dataOf(await moveUser(bob, mal.user, 'promote'))
  return { bob, mal }
}
const addMal = (mal: Phone) =>
  service.call('POST', `${groups()}/dba/members`, { key: acme.key, body: { user_id: mal.user } })

describe('two administrators whom the same key is behind', () => {
  test('do not count for it', async () => {
    const { mal } = await stage()
    expect(refusal(await addMal(mal))).toEqual([409, 'not_enough_approvers', []])
  })

  test('cannot appoint each other, which would leave no key behind them', async () => {
    const { bob, mal } = await stage()
    await demote(bob.user, acme.key)
    expect(refusal(await moveUser(mal, bob.user, 'promote'))).toEqual([409, 'origin_unknown', []])
    expect(refusal(await addMal(mal))).toEqual([409, 'not_enough_approvers', []])
  })

  test('stay what they are when one of them is appointed again by somebody else', async () => {
    const { bob, mal } = await stage()
    await demote(bob.user)
    await makeAdmin(bob.user)
    // Bob counts now, and Mal, whom he promoted before, does not.
    const { lines } = (await addMal(mal)).body.data.request
    const asked = lines.map((line: { people: { user_id: string }[] }) =>
      line.people.map((one) => one.user_id),
    )
    expect(asked.at(-1)).toEqual([bob.user])
  })
})

const ask = async () => {
  const body = { action: 'Deploy 4.2', approvers: ['@sre:2'] }
  return (await service.call('POST', '/svc/v1/approvals', { key: acme.key, body })).status
}

describe('an administrator whom a key appoints again', () => {
  test('leaves those whom they let in before what they were', async () => {
    const [ada, bob] = [await byOperator(1), await byOperator(3)]
    await makeAdmin(bob.user)
    const user = await createUser(66)
    dataOf(await moveUser(bob, user.id, 'link'))
    const mal = await registerPhone(user, await sentToken())
    dataOf(await service.call('POST', groups(), { body: { name: 'sre', members: [ada.user, mal.user] } }))
    expect(await ask()).toBe(200)
    await demote(bob.user, acme.key)
    await makeAdmin(bob.user, acme.key)
    expect(await ask()).toBe(200)
  })

  test('is refused in the end, because none of their appointments is forgotten', async () => {
    const bob = await byOperator(3)
    const body = { name: 'other', org_id: acme.id, scopes: ['people'] }
    const other = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
    const appoint = (key: string) =>
      service.call('POST', '/make-admin', { key, body: { org_id: acme.id, user_id: bob.user } })
    for (let n = 0; n < 50; n++) {
      dataOf(await appoint(n % 2 ? other : acme.key))
      await demote(bob.user, acme.key)
    }
    expect(refusal(await appoint(acme.key))).toEqual([409, 'too_many_appointments', []])
    await makeAdmin(bob.user)
  })
})
