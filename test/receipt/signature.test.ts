import { generateKeyPairSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { failedChecks } from './failed-checks.ts'
import { approval, approverKey, createIssuer, now, ours, specimen } from './specimen.ts'

const issuer = await createIssuer()
const key = approverKey()
const receipt = await specimen(issuer, approval, key)
const failed = failedChecks(issuer)
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a receipt that the service did not sign', () => {
  const [header, payload, signature] = receipt.jws.split('.') as [string, string, string]

  test.each<[string, string]>([
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

  test('fails with an HMAC keyed with the public key', async () => {
    const secret = new TextEncoder().encode(JSON.stringify(issuer.publicJwk))
    const jws = await new SignJWT(receipt.claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'approval-receipt+jwt', kid: issuer.kid })
      .sign(secret)
    const keys = { keys: [...issuer.jwks.keys, { kty: 'oct', k: Buffer.from(secret).toString('base64url') }] }
    expect(await verifyReceipt(jws, keys, ours, now)).toMatchObject({ valid: false })
  })

  test('fails with the key of another service, whatever its kid', async () => {
    const other = await createIssuer()
    const forged = await specimen({ ...issuer, sign: other.sign }, approval, key)
    expect(await failed(forged)).toEqual(['key'])
    const renamed = { keys: [{ ...other.publicJwk, kid: issuer.kid }] }
    expect(await verifyReceipt(receipt, renamed, ours, now)).toMatchObject({ valid: false })
  })

  test('fails without a usable key set', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const rsa = privateKey.export({ format: 'jwk' })
    for (const jwks of [undefined, null, 7, {}, { keys: 'all' }, { keys: [null, 7, {}, rsa] }])
      expect(await verifyReceipt(receipt, jwks, ours, now)).toMatchObject({ valid: false })
    const encryption = { keys: [{ ...issuer.publicJwk, use: 'enc' }] }
    expect(await verifyReceipt(receipt, encryption, ours, now)).toMatchObject({ valid: false })
  })
})
