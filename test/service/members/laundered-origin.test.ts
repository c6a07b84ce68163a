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
