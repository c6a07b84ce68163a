import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { createShrunkSweep } from '../../../src/service/approvals/shrunk-pools.ts'
import { decide, enroll } from '../approver.ts'
import { minute } from '../clock.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import {
  acme,
  ada,
  alan,
  approve,
  asks,
  clock,
  grace,
  group,
  installHooks,
  request,
  requested,
  service,
  stateOf,
} from './several-stage.ts'

installHooks()

const jwks = async () => (await service.call('GET', '/.well-known/jwks.json', { key: null })).body
const verdict = async (attestation: object, more: object = {}) =>
  verifyReceipt(
    attestation,
    await jwks(),
    { issuer: 'http://127.0.0.1:8080', organization: 'acme', allowDev: true, ...more },
    new Date(clock.iso()),
  )

describe('a request of two lines', () => {
  test('counts one person once, although another program repeats their answer under another id', async () => {
    await group('sre', ada, grace)
    const id = await requested('@sre:2')
    await service.runSql('DROP INDEX ballots_person')
    const [row] = (await service.runSql('SELECT * FROM ballots LIMIT 1')) as [object]
    const names = Object.keys(row).join(', ')
    await service.runSql(
      `INSERT INTO ballots (${names}) SELECT ${names.replace(/\bid\b/, 'id + 1000')} FROM ballots WHERE user_id = ${ada.id}`,
    )
    expect(refusal(await approve(ada, id))[1]).toBe('store_changed')
    expect((await stateOf(id)).status).toBe('pending')
  })

  test('is approved once both agree, with a set of receipts that proves it', async () => {
    const id = await requested(ada.mobile, grace.mobile)
    expect(dataOf(await approve(ada, id))).toMatchObject({
      status: 'pending',
      detail: expect.stringMatching(/^1 of 2 approved; waiting for /),
      attestation: null,
      use_by: null,
    })
    const { status, attestation, lines } = dataOf(await approve(grace, id))
    expect(status).toBe('approved')
    expect(lines.map(({ people }: { people: { answer: string }[] }) => people[0]!.answer)).toEqual([
      'approved',
      'approved',
    ])
    expect(attestation).toMatchObject({ format: 'set', receipts: [{ format: 'jws' }, { format: 'jws' }] })
    expect((await verdict(attestation)).checks.filter(({ ok }) => !ok)).toEqual([])
    for (const one of attestation.receipts) expect((await verdict(one)).valid).toBe(false)
    expect((await verdict({ ...attestation, receipts: [attestation.receipts[0]] })).valid).toBe(false)
  })

  test('is used once', async () => {
    const id = await requested(ada.mobile, grace.mobile)
    const { subject } = await stateOf(id)
    const consume = () =>
      service.call('POST', `/svc/v1/approvals/${id}/consume`, { key: asks, body: { digest: subject.digest } })
    dataOf(await approve(ada, id))
    expect(refusal(await consume())[1]).toBe('not_approved')
    dataOf(await approve(grace, id))
    expect((await consume()).status).toBe(200)
    expect(refusal(await consume())[1]).toBe('already_used')
  })

  test('is denied by the first denial, also after a yes, and the others read who denied it', async () => {
    const id = await requested(ada.mobile, grace.mobile)
    dataOf(await approve(ada, id))
    const { attestation } = dataOf(
      await decide(service, id, grace.key, { decision: 'deny', note: 'not now' }),
    )
    expect(await stateOf(id)).toMatchObject({
      status: 'denied',
      detail: expect.stringMatching(/denied this; Denied: "not now"/),
    })
    // The denial alone: the yes of the other proves nothing.
    expect(attestation).toMatchObject({ format: 'jws', claims: { status: 'denied' } })
    await expect(approve(ada, id)).rejects.toThrow('already denied')
  })

  test('expires with one yes, which proves nothing', async () => {
    const id = await requested(ada.mobile, grace.mobile)
    dataOf(await approve(ada, id))
    clock.tick(6 * minute)
    expect(await stateOf(id)).toMatchObject({ status: 'expired', attestation: null, use_by: null })
    await expect(approve(grace, id)).rejects.toThrow('expired')
  })

  test('is not decided twice by one person', async () => {
    const id = await requested(ada.mobile, grace.mobile)
    dataOf(await approve(ada, id))
    expect(refusal(await approve(ada, id))).toEqual([409, 'already_approved', []])
    expect((await stateOf(id)).status).toBe('pending')
  })
})

describe('a line', () => {
  test('of two people needs one of them', async () => {
    const id = await requested(`${ada.mobile},${grace.mobile}`)
    expect(dataOf(await approve(grace, id)).status).toBe('approved')
  })

  test('that needs two of three people is not satisfied by one', async () => {
    const id = await requested(`${ada.mobile},${grace.mobile},${alan.mobile}:2`)
    expect(dataOf(await approve(grace, id)).status).toBe('pending')
    expect(dataOf(await approve(alan, id)).status).toBe('approved')
  })

  test('of a group asks its members', async () => {
    await group('sre', ada, grace)
    const id = await requested('@sre:2')
    expect((await stateOf(id)).lines).toMatchObject([{ group: 'sre', need: 2 }])
    dataOf(await approve(ada, id))
    const { status, attestation } = dataOf(await approve(grace, id))
    expect(status).toBe('approved')
    expect((await verdict(attestation, { need: 2 })).checks.filter(({ ok }) => !ok)).toEqual([])
  })

  test('is satisfied by a person whom another line does not need', async () => {
    await group('dba', ada, grace)
    await group('security', ada, alan)
    const id = await requested('@dba:2', '@security')
    for (const one of [ada, grace]) expect(dataOf(await approve(one, id)).status).toBe('pending')
    expect(dataOf(await approve(alan, id)).status).toBe('approved')
  })

  test.each([
    ['an unknown group', ['@nobody'], [422, 'invalid_field', ['approvers']]],
    ['a text that is no line', ['sre'], [422, 'invalid_field', ['approvers[0]']]],
    ['more people than it names', ['+12025550101:2'], [422, 'invalid_field', ['approvers[0]']]],
    ['the people of another line', ['@sre', '@sre'], [422, 'invalid_field', ['approvers']]],
    ['an unknown person', ['+12025550199'], [409, 'approver_not_enrolled', []]],
  ] as const)('with %s is refused, and nobody is notified', async (_, approvers, refused) => {
    const before = service.notified.length
    expect(refusal(await request([...approvers]))).toEqual(refused)
    expect(service.notified.length).toBe(before)
  })

  test('that too few people can satisfy is refused with their names, and nobody is notified', async () => {
    const before = service.notified.length
    const answer = await request([ada.mobile, `${ada.mobile},${grace.mobile}:2`])
    expect(refusal(answer)).toEqual([409, 'not_enough_approvers', []])
    expect(answer.body.message).toMatch(
      /^Too few people can answer: 3 must agree, each for one group, and only/,
    )
    expect(service.notified.length).toBe(before)
  })
})

describe('somebody who leaves while a request waits', () => {
  test('no longer counts with the yes that they gave', async () => {
    const id = await requested(ada.mobile, grace.mobile)
    dataOf(await approve(ada, id))
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
    expect(dataOf(await approve(grace, id))).toMatchObject({ status: 'expired', attestation: null })
    expect((await stateOf(id)).detail).toMatch(/^too few of the people/)
  })

  test('ends a request that the others cannot complete', async () => {
    const id = await requested(ada.mobile, grace.mobile)
    const other = await requested(`${ada.mobile},${grace.mobile}`)
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
    await createShrunkSweep()(service.service)
    expect(await stateOf(id)).toMatchObject({ status: 'expired', detail: expect.stringMatching(/^too few/) })
    expect((await stateOf(other)).status).toBe('pending')
  })

  test('no longer counts on the line of a group that they left', async () => {
    await group('sre', ada, grace, alan)
    const id = await requested('@sre:2')
    dataOf(await approve(ada, id))
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/groups/sre/members/${ada.id}`))
    expect(dataOf(await approve(grace, id)).status).toBe('pending')
    const { status, attestation } = dataOf(await approve(alan, id))
    expect(status).toBe('approved')
    expect(attestation.receipts).toHaveLength(2)
    expect((await verdict(attestation)).valid).toBe(true)
  })

  test('does not get a ballot by joining a group later', async () => {
    await group('sre', ada, grace)
    const id = await requested('@sre')
    dataOf(
      await service.call('POST', `/svc/v1/organizations/${acme.id}/groups/sre/members`, {
        body: { user_id: alan.id },
      }),
    )
    expect((await approve(alan, id).catch((error: Error) => ({ status: error.message }))).status).not.toBe(
      200,
    )
    expect((await stateOf(id)).status).toBe('pending')
  })
})

describe('a device that the requesting key enrolled', () => {
  test('counts on a named line, and never on the line of a group', async () => {
    const body = { name: 'full', org_id: acme.id, scopes: ['all'] }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    const mal = await createMember(service, acme.id, 4)
    const own = {
      id: mal.id,
      mobile: mal.mobile_e164,
      ...(await enroll(service, acme.id, mal.id, 'ES256', key)),
    }
    await group('sre', own, ada)
    const ask = (approvers: string[]) =>
      service.call('POST', '/svc/v1/approvals', { key, body: { action: 'Deploy', approvers } })
    const named = dataOf(await ask([own.mobile])).request_id
    const { attestation } = dataOf(await approve(own, named))
    expect(attestation.claims.device.enrolled_by.relation).toBe('self')
    expect(refusal(await ask(['@sre:2']))).toEqual([409, 'not_enough_approvers', []])
    const { request_id, lines } = dataOf(await ask(['@sre']))
    expect(lines[0].people.map(({ user_id }: { user_id: string }) => user_id)).toEqual([ada.id])
    dataOf(await approve(ada, request_id))
  })
})
