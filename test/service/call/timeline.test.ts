import { describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { minute } from '../clock.ts'
import { createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

installHooks()

const api = 'http://127.0.0.1:8080'
const nextOf = ({ headers }: Answer): string | undefined =>
  headers['link']?.replace(/^<(.+)>; rel="next"$/, '$1').replace(api, '')

const get = (path: string, key = acme.key) => service.call('GET', path, { key })
const seqs = (answer: Answer): number[] => dataOf(answer).map(({ seq }: { seq: number }) => seq)
const audit = '/svc/v1/audit'

const grow = async (from: number, to: number): Promise<void> => {
  for (let n = from; n <= to; n++) {
    clock.tick(minute)
    await createMember(service, acme.id, n)
  }
}

const plan = (where: string, table = 'audit', order = 'at desc, seq desc') =>
  service.explain(`select * from ${table} where ${where} order by ${order} limit 101`)
// In the words of both engines.
const alongAnIndex = /^SEARCH audit USING INDEX audit_|Index Scan Backward using audit_/
const sorted = /TEMP B-TREE|Sort/

describe('a list by time', () => {
  test('is newest first, and its pages neither repeat nor miss a row while rows arrive', async () => {
    await grow(1, 4)
    const first = await get(`${audit}?limit=2`)
    expect(seqs(first)).toEqual([6, 5])
    await grow(5, 6)
    const second = await get(nextOf(first)!)
    expect(seqs(second)).toEqual([4, 3])
    const third = await get(nextOf(second)!)
    expect(seqs(third)).toEqual([2, 1])
    expect(nextOf(third)).toBeUndefined()
  })

  test('pages through rows of one and the same moment', async () => {
    await Promise.all([1, 2, 3].map((n) => createMember(service, acme.id, n)))
    const seen: number[] = []
    for (let path: string | undefined = `${audit}?limit=1`; path;) {
      const page = await get(path)
      seen.push(...seqs(page))
      path = nextOf(page)
    }
    expect(seen).toEqual([5, 4, 3, 2, 1])
  })

  test('holds what happened from one time until before another', async () => {
    await grow(1, 3)
    const at = dataOf(await get(audit)).map((row: { at: string }) => row.at)
    const span = (since: string, until: string) =>
      get(`${audit}?since=${encodeURIComponent(since)}&until=${encodeURIComponent(until)}`)
    expect(seqs(await span(at[1], at[0]))).toEqual([4])
    // The same moment with an offset of two hours.
    const east = new Date(Date.parse(at[1]) + 120 * minute).toISOString().replace('Z', '+02:00')
    expect(seqs(await span(east, at[0]))).toEqual([4])
    expect(refusal(await get(`${audit}?since=yesterday`))).toEqual([422, 'invalid_field', ['since']])
  })

  test('refuses a cursor of another list, and one that names no time', async () => {
    await grow(1, 2)
    const members = await get(`/organization/${acme.id}/users?limit=1`)
    const cursor = new URL(nextOf(members)!, api).searchParams.get('cursor')!
    const before = new URL(nextOf(await get(`${audit}?limit=1`))!, api).searchParams.get('cursor')!
    const far = Buffer.from('before:1:9999999999999999').toString('base64url')
    for (const path of [
      `${audit}?limit=1&cursor=${cursor}`,
      `/organization/${acme.id}/users?limit=1&cursor=${before}`,
      `${audit}?cursor=${far}`,
    ])
      expect(refusal(await get(path))).toEqual([422, 'invalid_field', ['cursor']])
  })

  test('finds its pages along an index, whatever it is filtered by', async () => {
    for (const filter of ['', "and actor = 'a'", "and action = 'b'", "and subject = 'c'"])
      for (const span of ['', "and at >= '2'", "and at >= '2' and at < '3'", "and (at, seq) < ('3', 4)"]) {
        const how = await plan(`org_id = 1 ${filter} ${span}`)
        expect(how, `${filter} ${span}`).toMatch(alongAnIndex)
        expect(how).not.toMatch(sorted)
      }
    const ids = 'requested_at desc, id desc'
    const ofState = "status = 'pending'"
    for (const where of ['org_id = 1', `org_id = 1 and ${ofState}`, ofState, "requested_at >= '2'"])
      expect(await plan(where, 'approvals', ids)).not.toMatch(sorted)
    for (const where of ['org_id = 1', "state = 'dead'", "created_at >= '2'"])
      expect(await plan(where, 'outbox', 'created_at desc, id desc')).not.toMatch(sorted)
  })
})

const own = (body: object) =>
  service.call('POST', `/organization/${acme.id}/create/auth-code`, { body, key: acme.key })

describe('the audit, filtered', () => {
  test('finds a key by its name or as the audit names it, and its rotated secrets with it', async () => {
    dataOf(await own({ label: 'Berlin' }))
    const all = dataOf(await get(audit))
    const actor: string = all[0].actor
    expect(actor).toMatch(/^of acme \(key \d+\)$/)
    const by = async (name: string) => dataOf(await get(`${audit}?actor=${encodeURIComponent(name)}`))
    expect(await by(actor)).toEqual([all[0]])
    expect(await by('of acme')).toEqual([all[0]])
    const [, id] = /key (\d+)/.exec(actor)!
    const { key } = dataOf(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { body: {} }))
    await service.call('POST', `/organization/${acme.id}/create/auth-code`, { body: { label: 'Bonn' }, key })
    const both = await service.call('GET', `${audit}?actor=of+acme&limit=5`, { key })
    expect(dataOf(both)).toMatchObject([{ action: 'createAuthCode' }, { seq: all[0].seq }])
    expect(dataOf(await service.call('GET', `${audit}?actor=user:999999`, { key }))).toEqual([])
  })

  test('finds a subject and an action, only of its own organization', async () => {
    const other = await createTenant(service, 'other')
    const { id } = await createMember(service, acme.id, 1)
    await createMember(service, other.id, 2)
    for (const query of [`subject=user:${id}`, 'action=createUser', `subject=user:${id}&action=createUser`])
      expect(dataOf(await get(`${audit}?${query}`))).toMatchObject([
        { subject: `user:${id}`, org_id: acme.id },
      ])
    expect(dataOf(await get(`${audit}?subject=user:${id}`, other.key))).toEqual([])
  })
})
