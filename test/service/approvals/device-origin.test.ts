import { describe, expect, test } from 'vitest'
import { holdCalls } from '../rule-fixture.ts'
import { digitsOf, type Phone } from '../page/phone.ts'
import { day } from '../clock.ts'
import { decide } from '../approver.ts'
import { moveDevice } from '../devices/moves.ts'
import { dataOf, fence, refusal } from '../fixtures.ts'
import {
  acme,
  addPhone,
  clock,
  createKey,
  createUser,
  enrollWith,
  honest,
  installHooks,
  moveUser,
  outcomeOf,
  registerPhone,
  sentToken,
  service,
  setPolicy,
  sign,
  signedIn,
  tokenIn,
  type User,
} from './one-key.ts'

installHooks()

const refused = { refused: 'approver_not_separated' }
const revoke = async (phone: Phone) =>
  dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${phone.device}`))

/** What comes of a request of a child key under the policy `strict`. */
const underStrict = async (phone: Phone) => {
  const { key } = await createKey(['ask'])
  await setPolicy({ separation: 'strict' })
  return outcomeOf({ key }, phone)
}

/** A phone that a phone of the key added, and which alone is left. */
const addedByPhone = async (): Promise<Phone> => {
  const first = await enrollWith(await createUser(1))
  const second = await addPhone(first)
  await revoke(first)
  return second
}

const createFence = (headers = {}) =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
    key: acme.key,
    body: { ...fence, is_active: 0 },
    headers,
  })

const hold = async (n: number): Promise<User> => {
  const user = await createUser(n, honest)
  dataOf(await service.call('POST', `/organization/${acme.id}/user/${user.id}/pending`, { body: {} }))
  return user
}
const letIn = async (admin: Phone, n: number): Promise<Phone> => {
  const user = await hold(n)
  dataOf(await moveUser(admin, user.id, 'accept'))
  return registerPhone(user, await sentToken())
}

/** Loses the only phone of a person, and registers another one with a link of the operator. */
const replace = async (): Promise<Phone> => {
  const user = await createUser(1, honest)
  const lost = await enrollWith(user, honest)
  await revoke(lost)
  return enrollWith(user, service.operatorKey)
}

const approveWith = async (key: string, phone: Phone) => {
  const path = `/svc/v1/organizations/${acme.id}/devices/${phone.device}/approve`
  dataOf(await service.call('POST', path, { key, body: digitsOf(phone) }))
  clock.tick(2 * day)
  return signedIn(phone)
}

describe('a phone that a phone added', () => {
  test('is that of the key which enrolled the first one, and no flag accepts its approvals of that key', async () => {
    const phone = await addedByPhone()
    expect(await outcomeOf({ key: acme.key }, phone, ['--allow-unseparated'])).toEqual({
      relation: 'self',
      failed: ['enrollment'],
    })
  })

  test('approves nothing of a child key under strict', async () => {
    const phone = await addedByPhone()
    const { key } = await createKey(['ask'])
    expect(await outcomeOf({ key }, phone)).toEqual({ relation: 'creator', failed: ['strict separation'] })
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ key }, phone)).toEqual(refused)
  })

  test('approves under strict if the operator, or an independent key, enrolled the first one', async () => {
    const { key } = await createKey(['ask'])
    await setPolicy({ separation: 'strict' })
    const ofOperator = await addPhone(await enrollWith(await createUser(1), service.operatorKey))
    expect(await outcomeOf({ key }, ofOperator)).toEqual({ relation: 'operator', failed: [] })
    const ofOther = await addPhone(await enrollWith(await createUser(2, honest), honest))
    expect(await outcomeOf({ key }, ofOther)).toEqual({ relation: 'other', failed: [] })
  })

  test('has the worst of the origins of the device that added it and of the one that approved it', async () => {
    const { key } = await createKey(['ask'])
    const user = await createUser(1, honest)
    const first = await enrollWith(user, honest)
    const second = await enrollWith(user)
    dataOf(await moveDevice(service, first, second.device))
    const third = await addPhone(first, await signedIn(second))
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ key }, first)).toEqual({ relation: 'other', failed: [] })
    for (const phone of [second, third])
      expect(await outcomeOf({ key }, phone)).toEqual({ refused: 'device_not_separated' })
  })

  test('approves no call under a rule that the first one could not approve', async () => {
    const first = await enrollWith(await createUser(1))
    const second = await addPhone(first)
    const good = await enrollWith(await createUser(2, honest), honest)
    await holdCalls(service, acme.id, ['geofence create'], [first.user, good.user])
    const { request_id } = (await createFence()).body.data.request
    expect((await decide(service, request_id, second.key)).status).toBe(404)
    dataOf(await decide(service, request_id, good.key))
    dataOf(await createFence({ 'x-svc-approval': request_id }))
  })

  test('cannot add another one after fifty, so that its origin stays known', async () => {
    let phone = await enrollWith(await createUser(1))
    const addLink = () => sign(phone, 'device-link/challenge', 'device-link')
    let link = await addLink()
    for (let added = 0; link.status === 200 && added < 60; added++) {
      const user = { id: phone.user, mobile_e164: phone.mobile }
      const next = await registerPhone(user, tokenIn(dataOf(link).url))
      dataOf(await moveDevice(service, phone, next.device))
      phone = await signedIn(next)
      link = await addLink()
    }
    expect(refusal(link)).toEqual([409, 'origin_unknown', []])
    expect(await outcomeOf({ key: acme.key }, phone)).toMatchObject({ relation: 'self' })
  })
})

describe('a phone that an administrator let in on the page', () => {
  test('is that of the key which enrolled the phone of the administrator', async () => {
    const user = await createUser(1, service.operatorKey, { role: 'admin' })
    const phone = await letIn(await enrollWith(user), 2)
    expect(await underStrict(phone)).toEqual(refused)
  })

  test('is that of the key which made the administrator one', async () => {
    const user = await createUser(1, acme.key, { role: 'admin' })
    const phone = await letIn(await enrollWith(user, honest), 2)
    expect(await underStrict(phone)).toEqual(refused)
  })

  test('is that of the key behind the administrator who promoted that administrator', async () => {
    const made = await enrollWith(await createUser(1, acme.key, { role: 'admin' }), honest)
    const promoted = await enrollWith(await createUser(2, honest), honest)
    dataOf(await moveUser(made, promoted.user, 'promote'))
    const phone = await letIn(promoted, 3)
    expect(await underStrict(phone)).toEqual(refused)
  })

  test('approves under strict if all of this was done by others', async () => {
    const made = await enrollWith(await createUser(1, honest, { role: 'admin' }), honest)
    const promoted = await enrollWith(await createUser(2, honest), service.operatorKey)
    dataOf(await moveUser(made, promoted.user, 'promote'))
    const phone = await letIn(promoted, 3)
    expect(await underStrict(phone)).toEqual({ relation: 'other', failed: [] })
  })

  test('cannot be let in by an administrator whom another program made one', async () => {
    const member = await enrollWith(await createUser(1, honest), honest)
    await service.runSql(`UPDATE memberships SET role = 'admin' WHERE user_id = ${member.user}`)
    const user = await hold(2)
    expect(refusal(await moveUser(member, user.id, 'accept'))).toEqual([409, 'origin_unknown', []])
  })
})

describe('a phone that replaces a lost one', () => {
  test('is also that of the administrator who approved it', async () => {
    const admin = await enrollWith(await createUser(9, acme.key, { role: 'admin' }), acme.key)
    clock.tick(2 * day)
    const phone = await replace()
    dataOf(await moveDevice(service, await signedIn(admin), phone.device))
    clock.tick(2 * day)
    const replaced = await signedIn(phone)
    const { key } = await createKey(['ask'])
    expect(await outcomeOf({ key }, replaced)).toMatchObject({ relation: 'creator' })
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ key }, replaced)).toEqual(refused)
  })

  test('approves under strict if the operator approved it', async () => {
    const phone = await approveWith(service.operatorKey, await replace())
    expect(await underStrict(phone)).toEqual({ relation: 'operator', failed: [] })
  })
})
