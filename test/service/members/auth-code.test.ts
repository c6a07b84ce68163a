import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { acme, installHooks, service } from '../acme.ts'
import { auditOf, contentsOf, createTenant, dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'

installHooks()

const create = (body: object) => service.call('POST', `/organization/${acme.id}/create/auth-code`, { body })
const update = (id: number, body: object) =>
  service.call('PUT', `/organization/${acme.id}/update/auth-code/${id}`, { body })
const list = (query = '') => service.call('GET', `/organization/${acme.id}/get-org-auth-codes${query}`)

describe('an auth code', () => {
  test('is shown once, as four groups of four that are easy to read aloud', async () => {
    const { code, ...record } = dataOf(await create({ label: 'Berlin office', uses: 50 }))
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/)
    expect(record).toMatchObject({
      label: 'Berlin office',
      uses_left: 50,
      expires_at: null,
      hint: code.slice(-4),
    })
    expect(dataOf(await list())).toEqual([record])
    expect(await auditOf(service, acme.id)).toContainEqual([
      'createAuthCode',
      `auth-code:${record.id}`,
      ['label', 'uses'],
    ])
  })

  test('is stored only as the hash of its bare form', async () => {
    const { code } = dataOf(await create({ label: 'x' }))
    const bare = code.replaceAll('-', '')
    const contents = await contentsOf(service)
    expect(contents.auth_codes).toMatchObject([{ code_hash: sha256(bare) }])
    expect(JSON.stringify(contents)).not.toMatch(new RegExp(`${code}|${bare}`))
  })

  test('expires at a time that is stored in UTC', async () => {
    const record = dataOf(await create({ label: 'x', expires_at: '2030-01-31T20:00:00+02:00' }))
    expect(record.expires_at).toBe('2030-01-31T18:00:00.000Z')
    const short = dataOf(await create({ label: 'x', expires_at: '2030-01-31T20:00+0200' }))
    expect(short.expires_at).toBe('2030-01-31T18:00:00.000Z')
  })

  test.each([
    [{ label: 'x', expires_at: '2030-01-31T11:59:59Z' }, 'expires_at'],
    [{ label: 'x', expires_at: '2030-01-31T12:00:00Z' }, 'expires_at'],
    [{ label: 'x', expires_at: '9999-12-31T23:59:59-01:00' }, 'expires_at'],
    [{ label: 'x', expires_at: 'tomorrow' }, 'expires_at'],
    [{ label: 'x', expires_at: '2030-02-30T00:00Z' }, 'expires_at'],
    [{ label: 'x', expires_at: '2030-02-28T00:00' }, 'expires_at'],
    [{ label: 'x', uses: 0 }, 'uses'],
    [{ uses: 1 }, 'label'],
  ])('is refused with %j', async (wrong, field) => {
    expect(await refusedWithoutTrace(service, () => create(wrong))).toEqual([422, 'invalid_field', [field]])
  })

  test('changes the fields that are set and keeps the rest', async () => {
    const { code: _, ...made } = dataOf(await create({ label: 'x', uses: 5 }))
    const changed = dataOf(await update(made.id, { uses: 10 }))
    expect(changed).toEqual({ ...made, uses_left: 10, updated_at: changed.updated_at })
    const expires_at = '2031-01-01T00:00:00.000Z'
    expect(dataOf(await update(made.id, { label: 'y', expires_at }))).toMatchObject({
      label: 'y',
      uses_left: 10,
      expires_at,
    })
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'updateAuthCode',
      `auth-code:${made.id}`,
      ['label', 'expires_at'],
    ])
  })

  test('cannot be moved to the past, changed to nothing, or changed if absent', async () => {
    const other = await createTenant(service, 'other')
    const { id } = dataOf(await create({ label: 'x' }))
    const before = await contentsOf(service)
    const past = await update(id, { expires_at: '2029-01-01T00:00:00Z' })
    expect(refusal(past)).toEqual([422, 'invalid_field', ['expires_at']])
    expect(refusal(await update(id, {}))).toEqual([422, 'nothing_to_change', []])
    expect(refusal(await update(99, { label: 'y' }))).toEqual([404, 'not_found', []])
    const elsewhere = await service.call('PUT', `/organization/${other.id}/update/auth-code/${id}`, {
      body: { label: 'y' },
    })
    expect(refusal(elsewhere)).toEqual([404, 'not_found', []])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('is gone when it is deleted', async () => {
    const { id } = dataOf(await create({ label: 'x' }))
    const path = `/organization/${acme.id}/delete/auth-code/${id}`
    expect((await service.call('DELETE', path)).status).toBe(200)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['deleteAuthCode', `auth-code:${id}`, []])
    expect(refusal(await service.call('DELETE', path))).toEqual([404, 'not_found', []])
    expect(dataOf(await list())).toEqual([])
  })

  test('is listed in pages', async () => {
    for (const label of ['a', 'b', 'c']) await create({ label })
    const page = await list('?limit=2')
    expect(dataOf(page)).toMatchObject([{ label: 'a' }, { label: 'b' }])
    const rest = await list(new URL(/<([^>]+)>/.exec(page.headers.link!)![1]!).search)
    expect(dataOf(rest)).toMatchObject([{ label: 'c' }])
  })
})
