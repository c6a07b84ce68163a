import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Expectations } from '../../src/receipt/expectations.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { approval, now, ours } from './specimen.ts'

// Receipts as a service issued them before format 2.
const kept = JSON.parse(readFileSync(new URL('format-one.json', import.meta.url), 'utf8')) as {
  jwks: object
  approved: string
  denied: string
  dev: string
}

const failed = async (jws: string, wanted: Expectations): Promise<string[]> => {
  const { checks } = await verifyReceipt(jws, kept.jwks, wanted, now)
  return checks.filter(({ ok }) => !ok).map(({ name }) => name)
}

describe('a receipt of format 1', () => {
  test('is valid only on request', async () => {
    expect(await failed(kept.approved, ours)).toEqual(['format 2'])
    expect(await failed(kept.approved, { ...ours, allowDev: true })).toEqual(['format 2'])
    expect(await failed(kept.approved, { ...ours, allowFormat1: true })).toEqual([])
  })

  test('reports what it does not prove', async () => {
    const { facts, valid } = await verifyReceipt(
      kept.approved,
      kept.jwks,
      { ...ours, allowFormat1: true },
      now,
    )
    expect(valid).toBe(true)
    expect(facts.join()).toContain('does not prove which organization it belongs to')
  })

  test('still requires the expected values', async () => {
    const wanted = { ...ours, allowFormat1: true }
    expect(await failed(kept.approved, { ...wanted, action: approval.action })).toEqual([])
    expect(await failed(kept.approved, { ...wanted, action: 'x' })).toEqual(['expected action'])
    expect(await failed(kept.approved, { ...wanted, issuer: undefined })).toEqual(['expected issuer'])
    expect(await failed(kept.approved, { ...wanted, digest: approval.subject.digest })).toEqual([
      'expected subject',
    ])
    expect(await failed(kept.denied, wanted)).toEqual(['expected status'])
    expect(await failed(kept.denied, { ...wanted, status: 'denied' })).toEqual([])
    expect(await failed(kept.dev, wanted)).toEqual(['development'])
  })
})
