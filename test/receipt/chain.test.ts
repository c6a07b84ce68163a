import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../src/core/ids.ts'
import { auditHash, type ChainRow, genesisHash, verifyChain } from '../../src/receipt/chain.ts'

const chain = (length: number): ChainRow[] => {
  const rows: ChainRow[] = []
  for (let seq = 1; seq <= length; seq++) {
    const row = {
      org_id: 3,
      seq,
      at: '2030-01-01T00:00:00.000Z',
      actor: 'ci (key 2)',
      action: 'createUser',
      subject: `user:${seq}`,
      changes: ['email', 'mobile'],
      request_id: 'req_1',
      rules: 0,
      prev_hash: rows.at(-1)?.hash ?? genesisHash,
    }
    rows.push({ ...row, hash: auditHash(row) })
  }
  return rows
}

describe('a hash chain', () => {
  test('hashes a row as SHA-256 of its RFC 8785 JSON, whatever the order of its fields', () => {
    const { hash, ...rest } = chain(1)[0]!
    // sha256sum of the canonical JSON, computed by hand
    expect(hash).toBe('2b90263671d4d6f07125250d356eea27e9c31f138a1e64809edb8999c232bbf5')
    expect(auditHash(Object.fromEntries(Object.entries(rest).toReversed()) as typeof rest)).toBe(hash)
  })

  test('hashes any text, and fields of later versions, as RFC 8785 JSON', () => {
    const [{ hash: _, ...row }] = chain(1) as [ChainRow]
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, text, fc.array(text), fc.boolean(), (actor, subject, changes, later) => {
        const written = { ...row, actor, subject, changes, ...(later && { zone: subject }) }
        expect(auditHash(written)).toBe(sha256(canonicalize(written)!))
      }),
    )
  })

  test('is valid as it was written, to its last row', () => {
    const rows = chain(5)
    expect(verifyChain(rows)).toEqual({ ok: true, seq: 5, hash: rows[4]!.hash, rules: 0 })
  })

  test('is valid when it is empty', () => {
    expect(verifyChain([])).toEqual({ ok: true, seq: 0, hash: genesisHash, rules: 0 })
  })

  test('reveals a row that counts other changes of rules than the rows before it', () => {
    const end = chain(2)
    const then = (subject: string, rules: number) => {
      const { hash, ...last } = end[1]!
      const row = { ...last, seq: 3, subject, rules, prev_hash: hash }
      return verifyChain([...end, { ...row, hash: auditHash(row) }])
    }
    expect(then('rules:1', 1)).toMatchObject({ ok: true, rules: 1 })
    for (const [subject, rules] of [
      ['rules:1', 0],
      ['user:1', 1],
    ] as const)
      expect(then(subject, rules)).toMatchObject({ ok: false, seq: 3 })
  })

  test('continues from a trusted row', () => {
    const rows = chain(5)
    const from = { seq: 3, hash: rows[2]!.hash }
    expect(verifyChain(rows.slice(3), from)).toMatchObject({ ok: true, seq: 5 })
    expect(verifyChain(rows.slice(3), { seq: 3, hash: rows[1]!.hash })).toMatchObject({ ok: false, seq: 4 })
  })

  test.each(Object.keys(chain(1)[0]!) as (keyof ChainRow)[])('shows a change of %s in any row', (field) => {
    for (const at of [0, 2, 4]) {
      const rows = chain(5)
      const row = rows[at]! as Record<string, unknown>
      if (Array.isArray(row[field])) row[field] = []
      else row[field] = typeof row[field] === 'number' ? row[field] + 1 : `${String(row[field])}x`
      expect(verifyChain(rows)).toMatchObject({ ok: false, seq: at + 1, reason: expect.any(String) })
    }
  })

  test.each([0, 1, 3])('reveals that row %i was removed', (at) => {
    expect(verifyChain(chain(5).toSpliced(at, 1))).toMatchObject({ ok: false, seq: at + 1 })
  })

  test('reveals two swapped rows and a repeated row', () => {
    const rows = chain(3)
    expect(verifyChain([rows[0]!, rows[2]!, rows[1]!])).toMatchObject({ ok: false, seq: 2 })
    expect(verifyChain([rows[0]!, rows[0]!, rows[1]!])).toMatchObject({ ok: false, seq: 2 })
  })

  test('reveals a row of another organization, even with matching hashes', () => {
    const rows = chain(2)
    const { hash: _, ...rest } = rows[1]!
    const foreign = { ...rest, org_id: 4 }
    expect(verifyChain([rows[0]!, { ...foreign, hash: auditHash(foreign) }])).toMatchObject({
      ok: false,
      seq: 2,
    })
  })
})
