import { describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { day } from '../clock.ts'
import { auditOf, contentsOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { create, list, revoke, rotate, works } from './key-calls.ts'

installHooks()

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

test('the name of a key looks like nothing else', async () => {
  for (const name of ['hоnest', 'ci" (verified), says it is "ops', ' \u2800'])
    expect(refusal(await create({ name, org_id: acme.id }))).toEqual([422, 'invalid_field', ['name']])
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
    expect(rows.find((row: { id: number }) => row.id === old.id).expires_at).toBe('2030-02-01T12:00:00.000Z')

    clock.tick(day)
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
    expect(refusal(await revoke(next.id, next.key))).toEqual([409, 'last_operator_key', []])
    expect(await works(next.key)).toBe(true)
  })

  test('refuses a request whose body is still arriving', async () => {
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
