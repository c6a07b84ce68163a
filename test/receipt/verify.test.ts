import { generateKeyPairSync } from 'node:crypto'
import { CompactSign, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { contextBytes } from '../../src/receipt/context.ts'
import type { Expectations } from '../../src/receipt/expectations.ts'
import type { ReceiptClaims } from '../../src/receipt/receipt.ts'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { approval, approverKey, createIssuer, now, specimen } from './specimen.ts'

const issuer = await createIssuer()
const key = approverKey()
const receipt = await specimen(issuer, approval, key)
const denial = await specimen(issuer, { ...approval, decision: 'deny' }, key)

const verify = (value: unknown, wanted: Expectations = {}, at = now) =>
  verifyReceipt(value, issuer.jwks, wanted, at)
const failed = async (value: unknown, wanted?: Expectations, at?: Date): Promise<string[]> => {
  const { valid, checks } = await verify(value, wanted, at)
  const names = checks.filter(({ ok }) => !ok).map(({ name }) => name)
  expect(valid).toBe(names.length === 0)
  return names
}
/** What a service would sign that lies, or is broken: other claims, genuinely signed. */
const resigned = (change: Partial<Record<keyof ReceiptClaims, unknown>> & Record<string, unknown>) =>
  issuer.sign({ ...receipt.claims, ...change }, 'approval-receipt+jwt')
const evidence = (change: Partial<ReceiptClaims['evidence']>) =>
  resigned({ evidence: { ...receipt.claims.evidence, ...change } })

describe('a genuine receipt', () => {
  it('is valid as an object, as text, and as the bare JWS', async () => {
    for (const value of [receipt, JSON.stringify(receipt, null, 2), `${receipt.jws}\n`]) {
      const { valid, claims, checks } = await verify(value)
      expect(checks.filter(({ ok }) => !ok)).toEqual([])
      expect({ valid, claims }).toEqual({ valid: true, claims: receipt.claims })
    }
  })

  it.each(['EdDSA', 'ES256'] as const)('is valid with a service key and a human key for %s', async (alg) => {
    const other = await createIssuer(alg)
    const value = await specimen(other, approval, approverKey(alg))
    expect(await verifyReceipt(value, other.jwks, {}, now)).toMatchObject({ valid: true })
  })

  it('stays valid when its key is retired, and for ever', async () => {
    const jwks = { keys: [...(await createIssuer()).jwks.keys, ...issuer.jwks.keys] }
    const later = new Date('2090-01-01T00:00:00Z')
    expect(await verifyReceipt(receipt, jwks, {}, later)).toMatchObject({ valid: true })
  })

  it('says what stands only on the word of the service', async () => {
    const open = await verify(receipt)
    expect(open.on_service_word.join()).toContain('belongs to +12025550101')
    const pinned = await verify(receipt, { pinnedKey: key.public_key_cose })
    expect(pinned).toMatchObject({ valid: true })
    expect(pinned.on_service_word.join()).not.toContain('belongs to')
  })
})

describe('what is expected of a receipt', () => {
  it('holds when all of it is said', async () => {
    const wanted: Expectations = {
      action: approval.action,
      approver: approval.approver,
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

  it.each<[string, Expectations]>([
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
  ])('fails: %s, %j', async (name, wanted) => {
    expect(await failed(receipt, wanted)).toEqual([name])
  })

  it('is an approval unless a denial is asked for', async () => {
    expect(await failed(denial)).toEqual(['expected status'])
    expect(await failed(denial, { status: 'denied' })).toEqual([])
  })

  it('is that it was made in earnest unless development is allowed', async () => {
    const dev = await specimen(issuer, approval, key, { dev: true })
    expect(await failed(dev)).toEqual(['development'])
    expect(await failed(dev, { allowDev: true })).toEqual([])
  })

  it('is that it is of the past', async () => {
    expect(await failed(receipt, {}, new Date('2030-01-31T11:00:00Z'))).toEqual(['past'])
    expect(await failed(receipt, {}, new Date(NaN))).toEqual(['past'])
  })
})

describe('a service that signs what the human did not', () => {
  it.each<[string, Parameters<typeof resigned>[0]]>([
    ['claims', { sub: '+12025550102' }],
    ['claims', { aud: 'someone else' }],
    ['claims', { jti: 'apr_other' }],
    ['claims', { reason: null }],
    ['decision', { status: 'denied' }],
    ['action hash', { action_sha256: '0'.repeat(64) }],
    ['time', { iat: receipt.claims.iat - 60 }],
    ['time', { iat: receipt.claims.iat + 120 }],
    ['factors', { factors: [] }],
    ['factors', { factors: [...receipt.claims.factors, receipt.claims.factors[0]] }],
    ['factors', { factors: receipt.claims.factors.map((one) => ({ ...one, result: 'FAIL' })) }],
    ['number', { number_matched: false }],
    ['means', { amr: ['face'] }],
    ['means', { amr: ['swk', 'user', 'mfa'] }],
    ['means', { dev: true }],
    ['shape', { exp: 1 }],
    ['shape', { admin: true }],
    ['shape', { iat: '1' }],
    ['shape', { dev: false }],
    ['context', { context: 'e30' }],
    ['context', { context: `${receipt.claims.context}=` }],
  ])('is caught by: %s, %o', async (name, change) => {
    expect(
      await failed(await resigned(change), { status: change.status as 'denied', allowDev: true }),
    ).toEqual([name])
  })

  it('is caught with another action, even hashed anew', async () => {
    const names = await failed(await resigned({ action: 'Delete production' }))
    expect(names).toEqual(['claims', 'action hash'])
  })

  it('is caught when it turns a denial into an approval', async () => {
    const claims = { ...denial.claims, status: 'approved', context: receipt.claims.context }
    const names = await failed(await issuer.sign(claims, 'approval-receipt+jwt'))
    expect(names).toEqual(['challenge', 'human signature'])
  })

  it('is caught when it replaces context and claims alike', async () => {
    const context = { ...approval, action: 'Delete production' }
    const other = await specimen(issuer, context, approverKey())
    const claims = { ...other.claims, evidence: receipt.claims.evidence }
    const names = await failed(await issuer.sign(claims, 'approval-receipt+jwt'))
    expect(names).toEqual(['challenge', 'human signature'])
  })

  it.each<Partial<ReceiptClaims['evidence']>>([
    { public_key: approverKey().public_key_cose },
    { signature: denial.claims.evidence.signature },
    { origin: 'https://approve.example.org' },
    { origin: 'http://approve.example.com' },
    { rp_id: 'example.com' },
    { rp_id: 'com' },
    { algorithm: -8 },
  ])('is caught with other evidence: %o', async (change) => {
    expect(await failed(await evidence(change))).toEqual(['human signature'])
  })

  it('is caught when the key signs for a stranger and a key was pinned', async () => {
    const forged = await specimen(issuer, approval, approverKey())
    expect(await failed(forged)).toEqual([])
    expect(await failed(forged, { pinnedKey: key.public_key_cose })).toEqual(['pinned key'])
  })
})

describe('a receipt that the service did not sign', () => {
  const [header, payload, signature] = receipt.jws.split('.') as [string, string, string]
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

  it.each<[string, string]>([
    ['signature', `${header}.${encode({ ...receipt.claims, action: 'x' })}.${signature}`],
    ['encoding', `${header}.${payload}.`],
    ['encoding', `${header}.${payload}`],
    ['encoding', `${receipt.jws}=`],
    ['encoding', `${header}.${payload}.${signature.slice(0, 40)}\n${signature.slice(40)}`],
    ['encoding', `${receipt.jws.slice(0, -1)}${receipt.jws.endsWith('A') ? 'B' : 'h'}`],
    ['algorithm', `${encode({ alg: 'none', typ: 'approval-receipt+jwt', kid: issuer.kid })}.${payload}.AA`],
    [
      'algorithm',
      `${encode({ alg: 'toString', typ: 'approval-receipt+jwt', kid: issuer.kid })}.${payload}.AA`,
    ],
    [
      'key',
      `${encode({ alg: 'ES256', typ: 'approval-receipt+jwt', kid: issuer.kid })}.${payload}.${signature}`,
    ],
    ['header', `${encode({ alg: 'EdDSA', kid: issuer.kid })}.${payload}.${signature}`],
    ['header', `${encode({ alg: 'EdDSA', typ: 'x', kid: issuer.kid, jwk: {} })}.${payload}.${signature}`],
    ['type', `${encode({ alg: 'EdDSA', typ: 'JWT', kid: issuer.kid })}.${payload}.${signature}`],
  ])('fails: %s', async (name, jws) => {
    expect(await failed(jws)).toEqual([name])
    expect(await failed({ ...receipt, jws })).toEqual([name])
  })

  it('fails with an HMAC under the public key', async () => {
    const secret = new TextEncoder().encode(JSON.stringify(issuer.publicJwk))
    const jws = await new SignJWT(receipt.claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'approval-receipt+jwt', kid: issuer.kid })
      .sign(secret)
    const keys = { keys: [...issuer.jwks.keys, { kty: 'oct', k: Buffer.from(secret).toString('base64url') }] }
    expect(await verifyReceipt(jws, keys, {}, now)).toMatchObject({ valid: false })
  })

  it('fails with the key of another service, whatever name the file gives that key', async () => {
    const other = await createIssuer()
    const forged = await specimen({ ...issuer, sign: other.sign }, approval, key)
    expect(await failed(forged)).toEqual(['key'])
    const renamed = { keys: [{ ...other.publicJwk, kid: issuer.kid }] }
    expect(await verifyReceipt(receipt, renamed, {}, now)).toMatchObject({ valid: false })
  })

  it('fails with no usable key set', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const rsa = privateKey.export({ format: 'jwk' })
    for (const jwks of [undefined, null, 7, {}, { keys: 'all' }, { keys: [null, 7, {}, rsa] }])
      expect(await verifyReceipt(receipt, jwks, {}, now)).toMatchObject({ valid: false })
    const encryption = { keys: [{ ...issuer.publicJwk, use: 'enc' }] }
    expect(await verifyReceipt(receipt, encryption, {}, now)).toMatchObject({ valid: false })
  })
})

describe('what stands beside the JWS', () => {
  it('is not believed', async () => {
    expect(await failed({ ...receipt, claims: { ...receipt.claims, action: 'x' } })).toEqual(['copy'])
    expect(await failed({ ...receipt, kid: 'other' })).toEqual(['copy'])
    expect(await failed({ format: 'jws', jws: receipt.jws, kid: receipt.kid })).toEqual(['format'])
    expect(await failed({ ...receipt, note: 'approved!' })).toEqual(['format'])
    expect(await failed({ ...receipt, format: 'jwt' })).toEqual(['format'])
  })

  it('does not stand there twice', async () => {
    const twice = JSON.stringify(receipt).replace('{', '{"kid":"other",')
    expect(JSON.parse(twice)).toEqual(receipt)
    expect(await failed(twice)).toEqual(['readable'])
  })
})

describe('what is no receipt', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a big integer', 7n],
    ['an empty text', ''],
    ['an empty object', {}],
    ['a list', [receipt]],
    ['a cycle', cycle],
    ['half of one', JSON.stringify(receipt).slice(0, -20)],
    ['a deep list', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['300 KB', `{"a":"${'x'.repeat(300_000)}"}`],
    ['300 KB of context', { ...receipt, claims: 'x'.repeat(300_000) }],
    ['__proto__', '{"__proto__":{"format":"jws"}}'],
  ])('is invalid and does not throw: %s', async (_, value) => {
    const { valid, claims, checks } = await verify(value)
    expect({ valid, claims }).toEqual({ valid: false, claims: undefined })
    expect(checks.at(-1)).toMatchObject({ ok: false })
  })

  it.each(['null', '[]', '7', '"x"', '{"a":1,"a":1}', ''])(
    'is a payload that is signed but says %s',
    async (text) => {
      const jws = await new CompactSign(Buffer.from(text))
        .setProtectedHeader({ alg: 'EdDSA', typ: 'approval-receipt+jwt', kid: issuer.kid })
        .sign(issuer.privateKey)
      expect(await verify(jws)).toMatchObject({ valid: false })
    },
  )

  it('is an approval with a long action: 200 KB are too much for a receipt', async () => {
    expect(() => contextBytes({ ...approval, action: 'x'.repeat(200_000) })).not.toThrow()
    const long = await specimen(issuer, { ...approval, action: 'x'.repeat(200_000) }, key)
    expect(await failed(long)).toEqual(['size'])
  })
})
