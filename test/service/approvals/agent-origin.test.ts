import { describe, expect, test } from 'vitest'
import { dataOf, refusal } from '../fixtures.ts'
import { agentKeys, connect } from '../mcp/oauth-client.ts'
import {
  acme,
  addPhone,
  createKey,
  createUser,
  enrollWith,
  honest,
  installHooks,
  outcomeOf,
  service,
  setPolicy,
} from './one-key.ts'

installHooks()

const notSeparated = { refused: 'approver_not_separated' }

describe('an agent', () => {
  test('of a phone that one key enrolled gets no approval of that phone under strict, as a child key of it', async () => {
    const phone = await enrollWith(await createUser(1))
    const agent = await connect(service, phone)
    const child = await createKey(['ask'])
    expect(await outcomeOf({ agent }, phone)).toEqual({ relation: 'creator', failed: ['strict separation'] })
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ agent }, phone)).toEqual(notSeparated)
    expect(await outcomeOf({ key: child.key }, phone)).toEqual(notSeparated)
  })

  test('of a phone that the operator enrolled gets approvals under strict', async () => {
    const phone = await enrollWith(await createUser(1, honest), service.operatorKey)
    const agent = await connect(service, phone)
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ agent }, phone)).toEqual({ relation: 'operator', failed: [] })
  })

  test('gets approvals under strict of a phone that an independent key enrolled', async () => {
    const agent = await connect(service, await enrollWith(await createUser(1)))
    const phone = await enrollWith(await createUser(2, honest), honest)
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ agent }, phone)).toEqual({ relation: 'other', failed: [] })
  })

  test('is related to every phone of the key, also of another person', async () => {
    const agent = await connect(service, await enrollWith(await createUser(1)))
    const other = await enrollWith(await createUser(2))
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ agent }, other)).toEqual(notSeparated)
  })

  test('has the origin of a phone that a phone added', async () => {
    const first = await enrollWith(await createUser(1))
    const agent = await connect(service, await addPhone(first))
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ agent }, first)).toEqual(notSeparated)
  })

  test('keeps its origin after the key, and the phone with which its person consented, are revoked', async () => {
    const child = await createKey(['devices'])
    const phone = await enrollWith(await createUser(1), child.key)
    const other = await enrollWith(await createUser(2))
    const tablet = await addPhone(phone)
    const agent = await connect(service, tablet)
    const path = `/svc/v1/organizations/${acme.id}/devices/${phone.device}`
    dataOf(await service.call('DELETE', path, { key: acme.key }))
    dataOf(await service.call('DELETE', `/svc/v1/keys/${acme.keyId}`))
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ agent }, tablet)).toEqual(notSeparated)
    expect(await outcomeOf({ agent }, other)).toEqual(notSeparated)
  })

  test('has an unknown origin after another program changed its phone, and gets no approval under strict', async () => {
    const consenting = await enrollWith(await createUser(1))
    const agent = await connect(service, consenting)
    const phone = await enrollWith(await createUser(2, honest), honest)
    await service.runSql(`UPDATE devices SET enrolled_by = 1 WHERE id = ${consenting.device}`)
    expect(await outcomeOf({ agent }, phone)).toEqual({
      relation: 'unknown',
      failed: ['separation', 'strict separation'],
    })
    await setPolicy({ separation: 'strict' })
    expect(await outcomeOf({ agent }, phone)).toEqual(notSeparated)
  })

  test('cannot be turned into a key by a rotation', async () => {
    await connect(service, await enrollWith(await createUser(1)))
    const [agent] = await agentKeys(service)
    const rotate = (key?: string) =>
      service.call('POST', `/svc/v1/keys/${agent!.id}/rotate`, { key, body: {} })
    expect(refusal(await rotate(acme.key))).toEqual([403, 'not_your_key', []])
    expect(refusal(await rotate())).toEqual([409, 'key_of_agent', []])
  })
})
