import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { receiptType } from '../../../src/receipt/claims.ts'
import { checkSignature } from '../../../src/receipt/signature.ts'
import { createIssuer, specimen } from '../../receipt/specimen.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

const jwks = async () => (await service.call('GET', '/.well-known/jwks.json', { key: null })).body
const kids = async (): Promise<string[]> => (await jwks()).keys.map(({ kid }: { kid: string }) => kid)
const change = (sql: string, ...values: unknown[]) => service.runSql(sql, values)

const insertForeign = async (mac: string | null = null) => {
  const issuer = await createIssuer()
  await change(
    'INSERT INTO signing_keys (kid, public_jwk, wrapped_jwk, created_at, row_mac) VALUES (?, ?, ?, ?, ?)',
    issuer.kid,
    JSON.stringify(issuer.publicJwk),
    'v2.a.b.c',
    '2999-01-01T00:00:00.000Z',
    mac,
  )
  return issuer
}

describe('a signing key that another program inserted', () => {
  test('is not published, so that none of its receipts verifies', async () => {
    const before = await kids()
    const issuer = await insertForeign()
    const { jws } = await specimen(issuer)
    expect(await kids()).toEqual(before)
    expect(await checkSignature(jws, await jwks(), receiptType, (_, isGood) => isGood)).toBeUndefined()
    // Only the key of the receipt is wrong.
    expect(await checkSignature(jws, issuer.jwks, receiptType, (_, isGood) => isGood)).toBeDefined()
  })

  test('is not published with the MAC of another row either', async () => {
    const [row] = await change('SELECT row_mac FROM signing_keys')
    const issuer = await insertForeign(row!.row_mac)
    expect(await kids()).not.toContain(issuer.kid)
  })

  test('does not replace the active key', async () => {
    const [active] = await kids()
    await insertForeign()
    const head = await service.call('GET', '/svc/v1/audit/head')
    const [header] = String(head.body.data.jws).split('.')
    expect(JSON.parse(Buffer.from(header!, 'base64url').toString())).toMatchObject({ kid: active })
  })
})

test.each([
  ['its public key', "public_jwk = replace(public_jwk, 'EdDSA', 'ES256')"],
  ['the time at which it was made', "created_at = '2020-01-01T00:00:00.000Z'"],
  ['its state', "retired_at = '2020-01-01T00:00:00.000Z'"],
  ['its MAC', 'row_mac = NULL'],
])('a signing key is not used after another program has changed %s', async (_, set) => {
  await change(`UPDATE signing_keys SET ${set}`)
  expect(await kids()).toEqual([])
  const head = await service.call('GET', '/svc/v1/audit/head')
  expect([head.status, head.body.data]).toEqual([503, expect.objectContaining({ code: 'no_signing_key' })])
})
