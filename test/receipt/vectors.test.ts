import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Expectations } from '../../src/receipt/expectations.ts'
import { nameOf, sentence } from '../../src/receipt/sentence.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import type { Vector } from './vector.ts'

type Written = Vector & { fails: string[]; now: string; expected: Expectations; jwks: unknown }

const folder = new URL('vectors/', import.meta.url)
const vectors = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Written] as const)

const play = ({ attestation, jwks, expected, now }: Written) =>
  verifyReceipt(attestation, jwks, expected, new Date(now))

describe('the vectors for other languages', () => {
  test.each(vectors)('%s is decided as it says', async (_, vector) => {
    const { valid, checks } = await play(vector)
    expect(checks.filter(({ ok }) => !ok).map(nameOf)).toEqual(vector.fails)
    expect(valid).toBe(vector.accept)
    expect(vector.fails.length === 0).toBe(vector.accept)
  })

  test('of a use says what was granted, and what was done with it', async () => {
    const [, use] = vectors.find(([name]) => name === 'use-of-a-grant.json')!
    expect(sentence(await play(use))).toMatch(
      /^Valid, under a grant: "(.+)" at \S+Z is use \d+ of \d+; \S+ granted "(?!\1").+" at \S+Z$/,
    )
  })

  test('of a use prove no place and no time, which were checked only when it was granted', async () => {
    const [, use] = vectors.find(([name]) => name === 'use-of-a-grant.json')!
    const expecting = (factors: string[]) => play({ ...use, expected: { ...use.expected, factors } })
    const { valid, checks } = await expecting(['location'])
    expect(valid).toBe(false)
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([
      { name: 'expected factor location', detail: expect.stringContaining('not at this use') },
    ])
    expect((await expecting(['biometric'])).valid).toBe(true)
  })

  test('are different ones', () => {
    const titles = vectors.map(([, { title }]) => title)
    expect(vectors.length).toBeGreaterThanOrEqual(30)
    expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([])
  })

  test('reject each thing that a valid receipt or set passes', async () => {
    const passed = new Set<string>()
    for (const [, vector] of vectors)
      if (vector.accept) for (const { name } of (await play(vector)).checks) passed.add(name)
    const failed = new Set(vectors.flatMap(([, { fails }]) => fails.map((one) => one.replace(/^.*: /, ''))))
    // A receipt of 256 KiB is too large for a vector.
    expect([...passed].filter((name) => !failed.has(name))).toEqual(['size'])
  })

  test('accept the sets, and none of their receipts alone', async () => {
    for (const [name, vector] of vectors) {
      const { format, receipts } = vector.attestation as { format?: string; receipts?: unknown[] }
      if (!vector.accept || format !== 'set' || name === 'set-of-one.json') continue
      for (const attestation of receipts!)
        expect(await play({ ...vector, attestation })).toMatchObject({ valid: false })
    }
  })
})
