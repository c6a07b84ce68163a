import { CompactSign } from 'jose'
import { describe, expect, test } from 'vitest'
import { contextBytes } from '../../src/receipt/context.ts'
import type { Expectations } from '../../src/receipt/expectations.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { failedChecks } from './failed-checks.ts'
import { approval, approverKey, createIssuer, device, now, ours, specimen } from './specimen.ts'

const issuer = await createIssuer()
const key = approverKey()
const receipt = await specimen(issuer, approval, key)
const denial = await specimen(issuer, { ...approval, decision: 'deny' }, key)

const verify = (value: unknown, wanted: Expectations = {}, at = now) =>
  verifyReceipt(value, issuer.jwks, { ...ours, ...wanted }, at)
const failed = failedChecks(issuer)

describe('a genuine receipt', () => {
  test('is valid as an object, as text, and as the bare JWS', async () => {
    for (const value of [receipt, JSON.stringify(receipt, null, 2), `${receipt.jws}\n`]) {
      const { valid, receipts, checks } = await verify(value)
      expect(checks.filter(({ ok }) => !ok)).toEqual([])
      expect({ valid, receipts }).toEqual({ valid: true, receipts: [receipt.claims] })
    }
  })

  test.each(['EdDSA', 'ES256'] as const)(
    'is valid with a service key and a human key for %s',
    async (alg) => {
      const other = await createIssuer(alg)
      const value = await specimen(other, approval, approverKey(alg))
      expect(await verifyReceipt(value, other.jwks, ours, now)).toMatchObject({ valid: true })
    },
  )

  test('stays valid forever, even when its key is retired', async () => {
    const jwks = { keys: [...(await createIssuer()).jwks.keys, ...issuer.jwks.keys] }
    const later = new Date('2090-01-01T00:00:00Z')
    expect(await verifyReceipt(receipt, jwks, ours, later)).toMatchObject({ valid: true })
  })

  test('reports what only the service vouches for', async () => {
    const open = await verify(receipt)
    expect(open.on_service_word.join()).toContain('belongs to +12025550101')
    const pinned = await verify(receipt, { pinnedKey: key.public_key_cose })
    expect(pinned).toMatchObject({ valid: true })
    expect(pinned.on_service_word.join()).not.toContain('belongs to')
  })
})

describe('the expected values of a receipt', () => {
  test('match when all are given', async () => {
    const wanted: Expectations = {
      action: approval.action,
      approver: approval.approver.mobile,
      requester: approval.requester,
      requestId: approval.request_id,
      issuer: 'https://approve.example.com',
      status: 'approved',
      factors: ['location'],
      maxAgeS: 600,
      pinnedKey: key.public_key_cose,
    }
    expect(await failed(receipt, wanted)).toEqual([])
  })

  test.each<[string, Expectations]>([
    ['expected action', { action: 'Deploy 4.2 to production' }],
    ['expected approver', { approver: '+12025550102' }],
    ['expected requester', { requester: '' }],
    ['expected requestId', { requestId: 'apr_other' }],
    ['expected issuer', { issuer: 'https://approve.example.com/' }],
    ['expected status', { status: 'denied' }],
    ['expected factor time', { factors: ['biometric', 'time'] }],
    ['age', { maxAgeS: 500 }],
    ['age', { maxAgeS: NaN }],
    ['pinned key', { pinnedKey: approverKey().public_key_cose }],
  ])('are named if they do not match: %s', async (name, wanted) => {
    expect(await failed(receipt, wanted)).toEqual([name])
  })

  test('include a requester that is only claimed, and say so', async () => {
    const { checks } = await verify(receipt, { requester: approval.requester })
    const { ok, detail } = checks.find(({ name }) => name === 'expected requester')!
    expect([ok, detail]).toEqual([true, expect.stringContaining('claimed by the requester, not verified')])
  })

  test('require an approval unless a denial is expected', async () => {
    expect(await failed(denial)).toEqual(['expected status'])
    expect(await failed(denial, { status: 'denied' })).toEqual([])
  })

  test('reject a development service unless it is allowed', async () => {
    const dev = await specimen(issuer, approval, key, { dev: true })
    expect(await failed(dev)).toEqual(['development'])
    expect(await failed(dev, { allowDev: true })).toEqual([])
  })

  test('reject a receipt from the future', async () => {
    expect(await failed(receipt, {}, new Date('2030-01-31T11:00:00Z'))).toEqual(['past'])
    expect(await failed(receipt, {}, new Date(NaN))).toEqual(['past'])
  })
})

describe('data next to the JWS', () => {
  test('is not trusted', async () => {
    expect(await failed({ ...receipt, claims: { ...receipt.claims, action: 'x' } })).toEqual(['copy'])
    expect(await failed({ ...receipt, kid: 'other' })).toEqual(['copy'])
    expect(await failed({ ...receipt, claims: null })).toEqual(['copy'])
    expect(await failed({ format: 'jws', jws: receipt.jws })).toEqual(['format'])
    expect(await failed({ ...receipt, note: 'approved!' })).toEqual(['format'])
    expect(await failed({ ...receipt, format: 'jwt' })).toEqual(['format'])
  })

  test('of a device that never was active is not issued', async () => {
    const never = { ...device, bound_at: null as unknown as string }
    await expect(specimen(issuer, approval, key, { device: never })).rejects.toThrow('bound_at')
  })

  test('may lack the claims, as in the result of a tool', async () => {
    expect(await failed({ format: 'jws', jws: receipt.jws, kid: receipt.kid })).toEqual([])
    expect(await failed({ format: 'jws', jws: receipt.jws, kid: 'other' })).toEqual(['copy'])
  })

  test('must not be duplicated', async () => {
    const twice = JSON.stringify(receipt).replace('{', '{"kid":"other",')
    expect(JSON.parse(twice)).toEqual(receipt)
    expect(await failed(twice)).toEqual(['readable'])
  })
})

describe('an invalid receipt', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a big integer', 7n],
    ['an empty text', ''],
    ['an empty object', {}],
    ['a list', [receipt]],
    ['a cycle', cycle],
    ['a truncated receipt', JSON.stringify(receipt).slice(0, -20)],
    ['a deep list', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['300 KB', `{"a":"${'x'.repeat(300_000)}"}`],
    ['300 KB of context', { ...receipt, claims: 'x'.repeat(300_000) }],
    ['__proto__', '{"__proto__":{"format":"jws"}}'],
  ])('is rejected and does not throw: %s', async (_, value) => {
    const { valid, receipts, checks } = await verify(value)
    expect({ valid, receipts }).toEqual({ valid: false, receipts: [] })
    expect(checks.at(-1)).toMatchObject({ ok: false })
  })

  test.each(['null', '[]', '7', '"x"', '{"a":1,"a":1}', ''])(
    'is a signed payload that says %s',
    async (text) => {
      const jws = await new CompactSign(Buffer.from(text))
        .setProtectedHeader({ alg: 'EdDSA', typ: 'approval-receipt+jwt', kid: issuer.kid })
        .sign(issuer.privateKey)
      expect(await verify(jws)).toMatchObject({ valid: false })
    },
  )

  test('includes a very long action: 200 KB are too much for a receipt', async () => {
    expect(() => contextBytes({ ...approval, action: 'x'.repeat(200_000) })).not.toThrow()
    const long = await specimen(issuer, { ...approval, action: 'x'.repeat(200_000) }, key)
    expect(await failed(long)).toEqual(['size'])
  })
})
