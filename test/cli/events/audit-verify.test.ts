import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditHash, type ChainRow, genesisHash } from '../../../src/receipt/chain.ts'
import { json, startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { svc } from '../svc.ts'

const perPage = 3

let service: FakeHosted
beforeAll(async () => {
  service = await startFakeHosted()
})
afterAll(() => service.close())

const chainOf = (length: number): ChainRow[] => {
  const rows: ChainRow[] = []
  for (let seq = 1; seq <= length; seq++) {
    const row = {
      org_id: 0,
      seq,
      at: `2030-01-01T00:00:0${seq % 10}.000Z`,
      actor: 'ci (key 1)',
      action: 'createUser',
      subject: `user:${seq}`,
      changes: [],
      request_id: 'req_1',
      rules: 0,
      prev_hash: rows.at(-1)?.hash ?? genesisHash,
    }
    rows.push({ ...row, hash: auditHash(row) })
  }
  return rows
}

/** Verifies the chain of a service that sends these rows in pages, newest first. `later` are appended after the first page. */
const verify = async (rows: readonly ChainRow[], later: readonly ChainRow[] = []) => {
  let asked = 0
  service.always((request, response) => {
    const all = (asked++ === 0 ? rows : [...rows, ...later]).toSorted((a, b) => b.seq - a.seq)
    const before = Number(new URL(request.path, service.origin).searchParams.get('cursor') ?? Infinity)
    const data = all.filter(({ seq }) => seq < before).slice(0, perPage)
    const { seq: last = 0 } = data.at(-1) ?? {}
    const hasNext = all.some(({ seq }) => seq < last)
    const link = { link: `</svc/v1/audit?cursor=${last}>; rel="next"` }
    json(200, { status: 'success', message: 'Audit', data }, hasNext ? link : {})(request, response)
  })
  const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'k'.repeat(20), SVC_CONFIG_DIR: '/nonexistent' }
  const { exit, out, err } = await svc(['audit', 'verify', '-o', 'json'], { env })
  return { exit, asked, text: exit === 0 ? (JSON.parse(out) as object) : err }
}

test('verifies a chain page by page', async () => {
  const rows = chainOf(10)
  const { exit, asked, text } = await verify(rows)
  expect([exit, asked]).toEqual([0, 4])
  expect(text).toEqual({ valid: true, rows: 10, seq: 10, hash: rows[9]!.hash, head: null })
})

test('leaves out rows that are appended meanwhile', async () => {
  const rows = chainOf(12)
  expect((await verify(rows.slice(0, 8), rows.slice(8))).text).toMatchObject({ valid: true, rows: 8, seq: 8 })
})

test('accepts an empty chain', async () => {
  expect((await verify([])).text).toMatchObject({ valid: true, rows: 0, seq: 0, hash: genesisHash })
})

test('finds a change, a gap and a wrong start on every page, and names the first', async () => {
  const rows = chainOf(10)
  for (let at = 0; at < rows.length; at++) {
    const changed = rows.with(at, { ...rows[at]!, subject: 'user:666' })
    expect(await verify(changed)).toMatchObject({
      exit: 1,
      text: expect.stringContaining(`Row ${at + 1}: row ${at + 1} was changed after it was written`),
    })
    // Without its last row, a chain is valid: only a saved head shows that.
    if (at === rows.length - 1) continue
    expect(await verify(rows.toSpliced(at, 1))).toMatchObject({
      exit: 1,
      text: expect.stringContaining(`row ${at + 1} is missing, row ${at + 2} is in its place`),
    })
    const forged = { ...rows[at + 1]!, prev_hash: genesisHash }
    const relinked = rows.with(at + 1, {
      ...forged,
      hash: auditHash({ ...forged, hash: undefined } as never),
    })
    expect((await verify(relinked)).exit).toBe(1)
  }
  const twice = rows.with(1, { ...rows[1]!, subject: 'x' }).with(8, { ...rows[8]!, subject: 'x' })
  expect((await verify(twice)).text).toContain('Row 2:')
})
