import { describe, expect, test } from 'vitest'
import { cut, json } from '../../fake-hosted.ts'
import { file, imports, installHooks, respond, posts, refused, serialOf } from './one-import.ts'

installHooks()

describe('an import into a service that', () => {
  test.each([
    ['answers 500', refused(500), 'http_500'],
    ['answers 422', refused(422), 'http_422'],
    ['cuts the connection', cut, 'connection_cut'],
    ['answers with a web page', json(502, 'x'), 'http_502'],
  ])('%s fails that row alone', async (_, answer, code) => {
    file(3)
    respond((serial) => (serial === 101 ? answer : undefined))
    const { exit, out } = await imports()
    const failures = [{ row: 3, mobile: '+12025550101', error: expect.objectContaining({ code }) as unknown }]
    expect([exit, JSON.parse(out)]).toEqual([10, { created: 2, skipped: 0, failed: 1, failures }])
  })

  test('limits the rate waits, and no row fails', async () => {
    file(3)
    const seen = new Set<number>()
    respond((serial) => {
      if (seen.has(serial)) return undefined
      seen.add(serial)
      return refused(429, { 'retry-after': '0' })
    })
    const { exit, err } = await imports()
    const sent = posts().map(serialOf).toSorted()
    expect([exit, sent]).toEqual([0, ['100', '100', '101', '101', '102', '102']])
    expect(err).toContain('Rate limit: waiting 0 s')
  })

  test('asks to wait for an hour ends, with the command that continues', async () => {
    file(3)
    respond((serial) => (serial === 101 ? refused(429, { 'retry-after': '3600' }) : undefined))
    const { exit, err } = await imports()
    expect([exit, JSON.parse(err.trimEnd().split('\n').at(-1)!)]).toEqual([
      9,
      expect.objectContaining({
        code: 'http_429',
        message: 'Stopped; 2 of 3 rows are done. It says 429',
        hint: 'svc user import u.csv --org 7 -o json --on-conflict skip continues',
      }),
    ])
  })

  test('rejects the key ends at once', async () => {
    file(50)
    respond(() => refused(401))
    const { exit, err } = await imports()
    expect([exit, err]).toEqual([4, expect.stringContaining('0 of 50 rows are done')])
    expect(posts().length).toBeLessThanOrEqual(16)
  })

  test('fails again and again ends before every row has failed', async () => {
    file(100)
    respond((serial) => (serial > 102 ? refused(500) : undefined))
    const { exit, err } = await imports()
    expect([exit, err]).toEqual([1, expect.stringContaining('3 of 100 rows are done')])
    expect(posts().length).toBeLessThan(60)
  })

  test('has another code for an existing user skips the user', async () => {
    file(1)
    respond(() => json(409, { status: 'error', message: 'No', data: { code: 'E1007' } }))
    const { exit, out } = await imports(['--on-conflict', 'skip'])
    expect([exit, JSON.parse(out)]).toEqual([0, expect.objectContaining({ skipped: 1 })])
  })

  test('supports idempotency keys sends the request again after a broken connection', async () => {
    file(1)
    let cuts = 0
    respond(() => (cuts++ === 0 ? cut : undefined), json(200, { ok: true }, { 'svc-idempotency': '24h' }))
    expect((await imports()).exit).toBe(0)
    const keys = posts().map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(2)
    expect(keys[0]).toBe(keys[1])
  })
})

test('an interrupted import finishes the requests in progress and prints the command that continues', async () => {
  file(50)
  const abort = new AbortController()
  respond(() => {
    abort.abort()
    return undefined
  })
  const { exit, out, err } = await imports([], { signal: abort.signal })
  expect([exit, out]).toEqual([130, ''])
  expect(err).toContain('Finishing the requests in progress')
  expect(err).toMatch(/Interrupted; \d+ of 50 rows are done/)
  expect(err).toContain('svc user import u.csv --org 7 -o json --on-conflict skip continues')
  expect(posts().length).toBeLessThan(50)
})
