import { beforeEach, describe, expect, test } from 'vitest'
import { createShrunkSweep } from '../../../src/service/approvals/shrunk-pools.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { type Approver, createApprover, decide, show } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'

installHooks()

// A person who is taken out of a group while a request to it waits.

let grace: Approver
let alan: Approver
let asks: string
beforeEach(async () => {
  grace = await createApprover(service, acme.id, 2)
  alan = await createApprover(service, acme.id, 3)
  const body = { name: 'ci', org_id: acme.id, scopes: ['ask'] }
  asks = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
})

const groups = '/svc/v1/organizations/1/groups'
const group = async (name: string, ...members: { id: string }[]) =>
  dataOf(await service.call('POST', groups, { body: { name, members: members.map(({ id }) => id) } }))
const leave = async (name: string, { id }: Approver) =>
  dataOf(await service.call('DELETE', `${groups}/${name}/members/${id}`))
const requested = async (...approvers: string[]): Promise<string> => {
  const body = { action: 'Deploy 4.2', approvers }
  return dataOf(await service.call('POST', '/svc/v1/approvals', { key: asks, body })).request_id
}
const approve = ({ key }: Approver, id: string) => decide(service, id, key)
const stateOf = async (id: string) => dataOf(await show(service, id, asks))
const tooFew = {
  status: 'expired',
  detail: expect.stringMatching(/^too few of the people/),
  attestation: null,
}

describe('a person who left the group', () => {
  test('does not approve as the only one who was asked', async () => {
    await group('sre', ada, grace)
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${grace.device}`))
    const id = await requested('@sre')
    await leave('sre', ada)
    expect(dataOf(await approve(ada, id))).toMatchObject(tooFew)
  })

  test('is not counted, and can still deny', async () => {
    await group('sre', ada, grace, alan)
    const id = await requested('@sre:2')
    await leave('sre', ada)
    expect(refusal(await approve(ada, id))).toEqual([403, 'not_in_group', []])
    expect((await stateOf(id)).detail).toMatch(/^0 of 2 approved/)
    dataOf(await approve(grace, id))
    expect(dataOf(await decide(service, id, ada.key, { decision: 'deny' })).status).toBe('denied')
  })

  test('is not named for its line by the service, but for the other that they are in', async () => {
    await group('dba', ada, grace)
    await group('security', ada, grace)
    const id = await requested('@dba', '@security')
    dataOf(await approve(ada, id))
    await leave('security', ada)
    const { status, attestation } = dataOf(await approve(grace, id))
    expect(status).toBe('approved')
    expect(attestation.completion.claims.assignment).toEqual([[ada.id], [grace.id]])
  })
})

const askTwice = async () => {
  await group('sre', ada, grace)
  return { two: await requested('@sre:2'), one: await requested('@sre') }
}

describe('a request to a group', () => {
  test('ends once too few of its people are left, and not before', async () => {
    const endShrunk = createShrunkSweep()
    const { one, two } = await askTwice()
    await endShrunk(service.service)
    expect((await stateOf(two)).status).toBe('pending')
    await leave('sre', ada)
    await endShrunk(service.service)
    expect(await stateOf(two)).toMatchObject(tooFew)
    expect((await stateOf(one)).status).toBe('pending')
  })

  test('ends once the group is deleted, also if the service was started since', async () => {
    const { one } = await askTwice()
    dataOf(await service.call('DELETE', `${groups}/sre`))
    await createShrunkSweep()(service.service)
    expect(await stateOf(one)).toMatchObject(tooFew)
  })

  test('ends behind many that wait for others, and behind groups that were altered', async () => {
    const { id: org } = dataOf(
      await service.call('POST', '/organization/create', { body: { name: 'Other', slug: 'other' } }),
    )
    const katherine = await createApprover(service, org, 7)
    const other = `/svc/v1/organizations/${org}/groups`
    dataOf(await service.call('POST', other, { body: { name: 'ops', members: [katherine.id] } }))
    const body = { action: 'Deploy', approvers: ['@ops'], org_id: org }
    dataOf(await service.call('POST', '/svc/v1/approvals', { body }))
    await service.storage.write(
      (db) => db.updateTable('groups').set({ members: '[1]' }).where('org_id', '=', org).execute(),
      { org },
    )
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${org}/devices/${katherine.device}`))
    const both = await requested(`${ada.mobile},${grace.mobile}`)
    const needed = await requested(ada.mobile)
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
    await createShrunkSweep({ batchSize: 1 })(service.service)
    expect((await stateOf(both)).status).toBe('pending')
    expect(await stateOf(needed)).toMatchObject(tooFew)
  })
})
