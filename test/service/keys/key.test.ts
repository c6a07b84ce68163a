import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ada, auditOf, contentsOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let now = new Date()
let service: TestService
let acme: { id: number; key: string }
beforeEach(async () => {
  now = new Date('2030-01-01T00:00:00Z')
  service = await startTestService({ now: () => now })
  acme = await createTenant(service, 'acme')
})
afterEach(() => service.close())

const create = (body: object, key?: string) =>
  service.call('POST', '/svc/v1/keys', { body: { scopes: ['all'], ...body }, key })
const rotate = (id: number, body: object = {}) => service.call('POST', `/svc/v1/keys/${id}/rotate`, { body })
const revoke = (id: number) => service.call('DELETE', `/svc/v1/keys/${id}`)
const list = (query = '', key?: string) => service.call('GET', `/svc/v1/keys${query}`, { key })
const works = async (key: string) => (await service.call('GET', '/organizations', { key })).status === 200

describe('a key that is revoked while the body of its request arrives', () => {
  test('writes nothing', async () => {
    const { key, id } = dataOf(await create({ name: 'thief', org_id: acme.id }, acme.key))
    const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const send = (text: string): Promise<void> => writer.write(new TextEncoder().encode(text))
    const headers = { 'x-api-key': key, 'content-type': 'application/json', host: '127.0.0.1:8080' }
    const request = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    const pending = service.app.request('http://127.0.0.1:8080/svc/v1/keys', request)
    await send('{"name":"heir",')
    expect((await revoke(id)).status).toBe(200)
    await send('"scopes":["read"]}')
    await writer.close()
    expect((await pending).status).toBe(401)
    expect((dataOf(await list()) as { name: string }[]).map(({ name }) => name)).not.toContain('heir')
  })
})

describe('creating a key', () => {
  test('makes one for an organization, shown once and audited there', async () => {
    const { key, ...record } = dataOf(await create({ name: 'ci', org_id: acme.id }))
    expect(record).toMatchObject({ name: 'ci', kind: 'organization', org_id: acme.id, revoked_at: null })
    expect(key.startsWith(record.prefix)).toBe(true)
    expect(await works(key)).toBe(true)
    expect(JSON.stringify([(await list()).body, await contentsOf(service)])).not.toContain(key)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'createKey',
      `key:${record.id}`,
      ['scopes', 'name', 'org_id'],
    ])
  })

  test('makes one for an operator, audited in the chain of the service', async () => {
    const { key, ...record } = dataOf(await create({ name: 'ci' }))
    expect(record).toMatchObject({ kind: 'operator', org_id: null })
    expect(dataOf(await list('', key))).toContainEqual(expect.objectContaining({ id: record.id }))
    expect((await auditOf(service, 0)).at(-1)).toEqual(['createKey', `key:${record.id}`, ['scopes', 'name']])
  })

  test('refuses a name that a live key of the same owner has', async () => {
    const { id } = dataOf(await create({ name: 'ci', org_id: acme.id }))
    const before = await contentsOf(service)
    expect(refusal(await create({ name: 'ci', org_id: acme.id }))).toEqual([409, 'name_taken', []])
    expect(await contentsOf(service)).toEqual(before)
    expect((await create({ name: 'ci' })).status).toBe(200)
    await revoke(id)
    expect((await create({ name: 'ci', org_id: acme.id })).status).toBe(200)
  })

  test('refuses an organization that is not there', async () => {
    expect(refusal(await create({ name: 'ci', org_id: 99 }))).toEqual([404, 'not_found', []])
  })
})

describe('listing keys', () => {
  test('shows an operator all, or those of one organization', async () => {
    const other = await createTenant(service, 'other')
    expect(dataOf(await list()).map((row: { org_id: number }) => row.org_id)).toEqual([
      null,
      acme.id,
      other.id,
    ])
    expect(dataOf(await list(`?org_id=${other.id}`))).toMatchObject([{ name: 'of other' }])
    expect(refusal(await list('?org_id=99'))).toEqual([404, 'not_found', []])
    const page = await list('?limit=1')
    expect(dataOf(page)).toMatchObject([{ kind: 'operator' }])
    expect(page.headers.link).toContain('rel="next"')
  })

  test('shows an organization its own only', async () => {
    const other = await createTenant(service, 'other')
    expect(dataOf(await list('', acme.key))).toMatchObject([{ name: 'of acme' }])
    expect(dataOf(await list(`?org_id=${acme.id}`, acme.key))).toMatchObject([{ name: 'of acme' }])
    expect(refusal(await list(`?org_id=${other.id}`, acme.key))).toEqual([404, 'not_found', []])
  })
})

describe('rotating a key', () => {
  test('adds a new one of the same name and lets the old one go on for a day', async () => {
    const old = dataOf(await create({ name: 'ci', org_id: acme.id }))
    const made = dataOf(await rotate(old.id))
    expect(made).toMatchObject({ name: 'ci', org_id: acme.id, expires_at: null })
    expect(made.id).not.toBe(old.id)
    expect([await works(old.key), await works(made.key)]).toEqual([true, true])
    const rows = dataOf(await list(`?org_id=${acme.id}`))
    expect(rows.find((row: { id: number }) => row.id === old.id).expires_at).toBe('2030-01-02T00:00:00.000Z')

    now = new Date('2030-01-02T00:00:00Z')
    expect([await works(old.key), await works(made.key)]).toEqual([false, true])
    expect((await auditOf(service, acme.id)).slice(-2)).toEqual([
      ['rotateKey', `key:${old.id}`, ['expires_at']],
      ['rotateKey', `key:${made.id}`, []],
    ])
  })

  test('revokes the old one immediately without an overlap', async () => {
    const old = dataOf(await create({ name: 'ci' }))
    await rotate(old.id, { overlap_s: 0 })
    expect(await works(old.key)).toBe(false)
  })

  test('refuses a key that is revoked, rotated or not there', async () => {
    const { id } = dataOf(await create({ name: 'ci' }))
    await rotate(id)
    const before = await contentsOf(service)
    expect(refusal(await rotate(id))).toEqual([409, 'key_rotated', []])
    expect(await contentsOf(service)).toEqual(before)
    await revoke(id)
    expect(refusal(await rotate(id))).toEqual([409, 'key_revoked', []])
    expect(refusal(await rotate(99))).toEqual([404, 'not_found', []])
    expect(refusal(await rotate(id, { overlap_s: -1 }))).toEqual([422, 'invalid_field', ['overlap_s']])
  })
})

describe('revoking a key', () => {
  test('revokes it immediately, and only once', async () => {
    const made = dataOf(await create({ name: 'ci', org_id: acme.id }))
    expect((await revoke(made.id)).status).toBe(200)
    expect(await works(made.key)).toBe(false)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['revokeKey', `key:${made.id}`, []])
    const before = await contentsOf(service)
    expect(refusal(await revoke(made.id))).toEqual([409, 'key_revoked', []])
    expect(refusal(await revoke(99))).toEqual([404, 'not_found', []])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('never leaves the service without an operator key', async () => {
    const [first] = dataOf(await list())
    const last = await revoke(first.id)
    expect(refusal(last)).toEqual([409, 'last_operator_key', []])
    expect(last.body.data.hint).toContain('svc key rotate')

    const { id, key } = dataOf(await create({ name: 'second' }))
    // The second would end with the first, which created it.
    expect(refusal(await revoke(first.id))).toEqual([409, 'last_operator_key', []])
    expect(await works(key)).toBe(true)
    expect((await revoke(id)).status).toBe(200)
    expect(await works(key)).toBe(false)
  })

  test('does not count on an operator key that only lives out its overlap', async () => {
    const [first] = dataOf(await list())
    const next = dataOf(await rotate(first.id))
    for (const id of [next.id, first.id])
      expect(refusal(await service.call('DELETE', `/svc/v1/keys/${id}`, { key: next.key }))).toEqual([
        409,
        'last_operator_key',
        [],
      ])
    expect(await works(next.key)).toBe(true)
  })
})

const scoped = async (...scopes: string[]) =>
  dataOf(await create({ name: scopes.join(), org_id: acme.id, scopes })) as { id: number; key: string }

test.each(['older', 'newer'])('a key is revoked whole by its %s secret', async (named) => {
  const made = dataOf(await create({ name: 'ci', org_id: acme.id, scopes: ['keys'] }))
  const next = dataOf(await rotate(made.id))
  const child = dataOf(await create({ name: 'child', scopes: ['keys'] }, next.key))
  expect((await list('', made.key)).status).toBe(200)
  expect((await revoke(named === 'older' ? made.id : next.id)).status).toBe(200)
  expect(await Promise.all([made, next, child].map(async ({ key }) => (await list('', key)).status))).toEqual(
    [401, 401, 401],
  )
})

test('a key rotates only itself and the keys that it created', async () => {
  const { id, key } = dataOf(await create({ name: 'lead', org_id: acme.id, scopes: ['keys', 'ask'] }))
  const other = dataOf(await create({ name: 'app', org_id: acme.id, scopes: ['ask'] }))
  const child = dataOf(await create({ name: 'child', scopes: ['ask'] }, key))
  const by = (target: number) => service.call('POST', `/svc/v1/keys/${target}/rotate`, { key, body: {} })
  const before = await contentsOf(service)
  expect(refusal(await by(other.id))).toEqual([403, 'not_your_key', []])
  expect(await contentsOf(service)).toEqual(before)
  expect([(await by(child.id)).status, (await by(id)).status]).toEqual([200, 200])
})

test('the name of a key looks like nothing else', async () => {
  for (const name of ['hоnest', 'ci" (verified), says it is "ops', ' \u2800'])
    expect(refusal(await create({ name, org_id: acme.id }))).toEqual([422, 'invalid_field', ['name']])
})

describe('a key of an organization', () => {
  test('creates, rotates and revokes keys of its organization with the scope keys', async () => {
    const { key } = await scoped('keys', 'ask')
    const made = dataOf(await create({ name: 'mine', scopes: ['ask'] }, key))
    expect(made).toMatchObject({ org_id: acme.id, scopes: ['ask'], kind: 'organization' })
    expect((await service.call('POST', `/svc/v1/keys/${made.id}/rotate`, { key, body: {} })).status).toBe(200)
    expect((await service.call('DELETE', `/svc/v1/keys/${made.id}`, { key })).status).toBe(200)
  })

  test('does neither without that scope', async () => {
    const { id, key } = await scoped('ask', 'read', 'people', 'rules', 'devices', 'notify', 'app')
    const before = await contentsOf(service)
    for (const answer of [
      await create({ name: 'x', scopes: ['ask'] }, key),
      await service.call('POST', `/svc/v1/keys/${id}/rotate`, { key, body: {} }),
      await service.call('DELETE', `/svc/v1/keys/${id}`, { key }),
      await list('', key),
    ])
      expect(refusal(answer)).toEqual([403, 'scope_missing', []])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('grants only its own scopes, and gets no secret of a stronger key', async () => {
    const { key } = await scoped('keys', 'ask')
    const stronger = await scoped('rules')
    const before = await contentsOf(service)
    for (const scopes of [['all'], ['admin'], ['ask', 'devices']])
      expect(refusal(await create({ name: 'x', scopes }, key))).toEqual([403, 'scope_missing', []])
    expect(
      refusal(await service.call('POST', `/svc/v1/keys/${stronger.id}/rotate`, { key, body: {} })),
    ).toEqual([403, 'not_your_key', []])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('reaches no key of another organization, and creates none for the service', async () => {
    const { key } = await scoped('keys')
    const { id } = dataOf(await create({ name: 'service', scopes: ['ask'] }))
    const before = await contentsOf(service)
    expect(refusal(await service.call('DELETE', `/svc/v1/keys/${id}`, { key }))).toEqual([
      404,
      'not_found',
      [],
    ])
    expect(refusal(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { key, body: {} }))).toEqual([
      404,
      'not_found',
      [],
    ])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('ends no later than the key that creates it', async () => {
    const until = '2030-01-02T00:00:00.000Z'
    const { key } = dataOf(
      await create({ name: 'a day', org_id: acme.id, scopes: ['keys', 'ask'], expires_at: until }),
    )
    for (const expires_at of [undefined, '2030-01-02T00:00:00.001Z'])
      expect(refusal(await create({ name: 'x', scopes: ['ask'], expires_at }, key))).toEqual([
        422,
        'invalid_field',
        ['expires_at'],
      ])
    const child = dataOf(
      await create({ name: 'x', scopes: ['ask'], expires_at: '2030-01-02T01:00:00+01:00' }, key),
    )
    expect(child.expires_at).toBe(until)
    now = new Date(until)
    expect(await works(child.key)).toBe(false)
  })

  test('reports expiry for a complete key, but not that it was revoked', async () => {
    const expires_at = '2030-01-02T00:00:00.000Z'
    const made = dataOf(await create({ name: 'x', org_id: acme.id, scopes: ['read'], expires_at }))
    now = new Date(expires_at)
    const expired = await service.call('GET', '/organizations', { key: made.key })
    expect(refusal(expired)).toEqual([401, 'key_expired', []])
    expect(expired.body.message).toBe(`This key expired at ${expires_at}`)
    const guess = await service.call('GET', '/organizations', { key: `${made.key.slice(0, -1)}_` })
    expect(refusal(guess)).toEqual([401, 'unauthenticated', []])
    const revoked = await scoped('read')
    await revoke(revoked.id)
    const over = await service.call('GET', '/organizations', { key: revoked.key })
    expect([over.status, over.body]).toEqual([guess.status, guess.body])
  })

  test('is revoked with the key that created it, and so are the keys that it created', async () => {
    const { id, key } = await scoped('keys', 'ask', 'read')
    const child = dataOf(await create({ name: 'child', scopes: ['keys', 'read'] }, key))
    const grandchild = dataOf(await create({ name: 'grandchild', scopes: ['read'] }, child.key))
    dataOf(await service.call('POST', `/svc/v1/keys/${child.id}/rotate`, { key, body: {} }))
    const other = await scoped('read')
    expect(await works(grandchild.key)).toBe(true)
    expect((await revoke(id)).status).toBe(200)
    expect(await Promise.all([key, child.key, grandchild.key, other.key].map(works))).toEqual([
      false,
      false,
      false,
      true,
    ])
  })

  test('is shown with the keys that end with it', async () => {
    const { id, key } = await scoped('keys', 'ask', 'read')
    const child = dataOf(await create({ name: 'child', scopes: ['keys', 'read'] }, key))
    const grandchild = dataOf(await create({ name: 'grandchild', scopes: ['read'] }, child.key))
    const over = dataOf(await create({ name: 'over', scopes: ['read'] }, key))
    await revoke(over.id)
    const rotated = dataOf(await service.call('POST', `/svc/v1/keys/${child.id}/rotate`, { key, body: {} }))
    const shown = dataOf(await service.call('GET', `/svc/v1/keys/${id}`))
    expect(shown).toMatchObject({ id, scopes: ['ask', 'read', 'keys'] })
    expect(shown.created_keys.map(({ id: one }: { id: string }) => one)).toEqual([grandchild.id, rotated.id])
    const other = await createTenant(service, 'other')
    expect(refusal(await service.call('GET', `/svc/v1/keys/${id}`, { key: other.key }))).toEqual([
      404,
      'not_found',
      [],
    ])
  })

  test.each([
    [
      'is removed',
      (user_id: string) =>
        service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id } }),
    ],
    ['is deleted', (id: string) => service.call('DELETE', `/organization/${acme.id}/delete/user/${id}`)],
    [
      'is put on hold',
      (id: string) => service.call('POST', `/organization/${acme.id}/user/${id}/pending`, { body: {} }),
    ],
  ])('ends when its owner %s, with its keys and requests', async (_, leave) => {
    const owner = dataOf(await service.call('POST', `/organization/${acme.id}/create/user`, { body: ada }))
    const other = dataOf(
      await service.call('POST', `/organization/${acme.id}/create/user`, {
        body: { ...ada, mobile: '2025550102', email: 'eve@acme.example' },
      }),
    )
    const own = dataOf(
      await create({ name: 'own', org_id: acme.id, scopes: ['keys', 'read'], owner_user_id: owner.id }),
    )
    const child = dataOf(await create({ name: 'child', scopes: ['read'] }, own.key))
    const eves = dataOf(
      await create({ name: 'eves', org_id: acme.id, scopes: ['read'], owner_user_id: other.id }),
    )
    const services = dataOf(await create({ name: 'all orgs', scopes: ['read'], owner_user_id: owner.id }))
    dataOf(await leave(owner.id))
    expect(await Promise.all([own, child, eves, services].map(({ key }) => works(key)))).toEqual([
      false,
      false,
      true,
      true,
    ])
    const changes = (await auditOf(service, acme.id)).filter(([, , fields]) => fields[0] === 'revoked_at')
    expect(changes.map(([, subject]) => subject)).toEqual([`key:${own.id}`, `key:${child.id}`])
  })

  test('can belong to a user of the organization', async () => {
    expect(
      refusal(await create({ name: 'x', org_id: acme.id, scopes: ['ask'], owner_user_id: '99' })),
    ).toEqual([422, 'invalid_field', ['owner_user_id']])
  })
})
