import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { genesisHash, verifyChain } from '../../../src/receipt/chain.ts'
import { acme, installHooks, service } from '../acme.ts'
import { chainOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'

installHooks()

const list = (query = '', key?: string) => service.call('GET', `/svc/v1/audit${query}`, { key })
const head = (query = '', key?: string) => service.call('GET', `/svc/v1/audit/head${query}`, { key })

describe('the audit of an organization', () => {
  test('is a valid chain whose rows show who did what', async () => {
    await createMember(service, acme.id, 1)
    const rows = await chainOf(service, acme.id)
    expect(verifyChain(rows)).toMatchObject({ ok: true, seq: 3 })
    expect(rows[2]).toMatchObject({
      org_id: acme.id,
      seq: 3,
      actor: expect.stringMatching(/^operator \(key \d+\)$/),
      action: 'createUser',
      request_id: expect.stringMatching(/^req_/),
    })
  })

  test('names fields and never their values', async () => {
    await createMember(service, acme.id, 1)
    expect(JSON.stringify(dataOf(await list(`?org_id=${acme.id}`)))).not.toMatch(/202555|@acme|Lovelace/)
  })

  test.each([
    ['deleteuser', 'deleteUser'],
    ['user delete', 'deleteUser'],
    ['expireAproval', 'expireApproval'],
  ])('refuses the action %j and says which was meant', async (typed, meant) => {
    const refused = await list(`?org_id=${acme.id}&action=${encodeURIComponent(typed)}`)
    expect(refused.body.message).toBe(
      `action must be an action as the list shows it, not "${typed}"; did you mean ${meant}?`,
    )
  })

  test('refuses an actor who is nobody, and finds nothing of one who did nothing', async () => {
    const refused = await list(`?org_id=${acme.id}&actor=Katherine`)
    expect(refused.body.message).toBe('actor names nobody who did something here: "Katherine"')
    const body = { name: 'ci', org_id: acme.id, scopes: ['ask'] }
    dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    for (const actor of ['user:99', 'ci'])
      expect(dataOf(await list(`?org_id=${acme.id}&actor=${actor}`))).toEqual([])
  })

  test('finds nothing of an action that exists', async () => {
    expect(dataOf(await list(`?org_id=${acme.id}&action=expireApproval`))).toEqual([])
  })

  test('shows a row that was changed in the store', async () => {
    await createMember(service, acme.id, 1)
    await service.storage.write(
      (db) =>
        db
          .updateTable('audit')
          .set({ actor: 'somebody else' })
          .where('org_id', '=', acme.id)
          .where('seq', '=', 2)
          .execute(),
      { org: 0 },
    )
    expect(verifyChain(await chainOf(service, acme.id))).toMatchObject({ ok: false, seq: 2 })
  })

  test('comes in pages that make one chain', async () => {
    for (let n = 1; n <= 3; n++) await createMember(service, acme.id, n)
    const first = await list(`?org_id=${acme.id}&limit=2`)
    const rest = await list(
      new URL(/<([^>]+)>/.exec(first.headers.link!)![1]!).search.replace('limit=2', 'limit=9'),
    )
    expect(verifyChain([...dataOf(first), ...dataOf(rest)].toReversed())).toMatchObject({ ok: true, seq: 5 })
  })

  test('is for its own key, which needs not say so, and for operators', async () => {
    const other = await createTenant(service, 'other')
    expect(dataOf(await list('', acme.key))).toEqual(dataOf(await list(`?org_id=${acme.id}`)))
    for (const query of ['?org_id=0', `?org_id=${other.id}`]) {
      expect(refusal(await list(query, acme.key))).toEqual([404, 'not_found', []])
      expect(refusal(await head(query, acme.key))).toEqual([404, 'not_found', []])
    }
  })

  test('can be read by an operator when the organization is gone', async () => {
    await service.call('DELETE', `/organization/${acme.id}/delete`)
    expect(verifyChain(await chainOf(service, acme.id))).toMatchObject({ ok: true, seq: 3 })
    expect(refusal(await list('?org_id=99'))).toEqual([404, 'not_found', []])
  })

  test('loses nothing when many write at the same time', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, n) => createMember(service, acme.id, n)))
    expect(verifyChain(await chainOf(service, acme.id))).toMatchObject({ ok: true, seq: 52 })
  })
})

test('the chain of the service is what an operator sees when no organization is named', async () => {
  const rows = dataOf(await list())
  expect(rows).toEqual(dataOf(await list('?org_id=0')))
  expect(rows).toMatchObject([{ org_id: 0, seq: 1, action: 'createKey' }])
})

describe('the head of a chain', () => {
  test('is its last row, signed with a key that the service publishes', async () => {
    const { jws, ...shown } = dataOf(await head(`?org_id=${acme.id}`))
    const rows = await chainOf(service, acme.id)
    expect(shown).toEqual({ org_id: acme.id, seq: 2, hash: rows[1]!.hash })
    const { body: jwks } = await service.call('GET', '/.well-known/jwks.json', { key: null })
    const { payload, protectedHeader } = await jwtVerify(jws, createLocalJWKSet(jwks))
    expect(payload).toMatchObject({ ...shown, at: expect.stringMatching(/Z$/) })
    expect(protectedHeader.typ).toBe('audit-head+jwt')
  })

  test('catches a rewrite that is consistent in itself', async () => {
    const { seq, hash } = dataOf(await head(`?org_id=${acme.id}`))
    await createMember(service, acme.id, 1)
    const later = (await chainOf(service, acme.id)).slice(seq)
    expect(verifyChain(later, { seq, hash })).toMatchObject({ ok: true, seq: 3 })
    expect(verifyChain(later, { seq, hash: genesisHash })).toMatchObject({ ok: false, seq: 3 })
  })
})
