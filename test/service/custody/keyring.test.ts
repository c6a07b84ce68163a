import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { randomBytes } from 'node:crypto'
import { createKeyring } from '../../../src/service/custody/create-keyring.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

test('a wrapped value can be unwrapped only in its own context', () => {
  const { keyring } = service
  const wrapped = keyring.wrap('s3cret ü', 'idp_credentials:1')
  expect(wrapped).not.toContain('s3cret')
  expect(keyring.unwrap(wrapped, 'idp_credentials:1')).toBe('s3cret ü')
  expect(() => keyring.unwrap(wrapped, 'idp_credentials:2')).toThrow('authenticate')
  expect(keyring.wrap('s3cret ü', 'idp_credentials:1')).not.toBe(wrapped)
})

test('detects every changed character of a wrapped secret', () => {
  const { keyring } = service
  const wrapped = keyring.wrap('s3cret', 'idp_credentials:1')
  const accepted = [...wrapped].filter((char, i) => {
    const other = char === 'A' ? 'Q' : 'A'
    try {
      return (
        keyring.unwrap(wrapped.slice(0, i) + other + wrapped.slice(i + 1), 'idp_credentials:1') !== 's3cret'
      )
    } catch {
      return false
    }
  })
  expect(accepted).toEqual([])
})

test('a signature verifies with the public keys', async () => {
  const { keyring } = service
  const jws = await keyring.sign({ sub: 'x' }, 'test+jwt')
  const { payload, protectedHeader } = await jwtVerify(
    jws,
    createLocalJWKSet((await keyring.jwks()) as never),
    {
      typ: 'test+jwt',
    },
  )
  expect(payload).toEqual({ sub: 'x' })
  expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'test+jwt', kid: (await keyring.jwks()).keys[0]!.kid })
})

test('the store does not contain the private key in plain text', async () => {
  const rows = await service.storage.read((db) => db.selectFrom('signing_keys').selectAll().execute())
  expect(rows).toHaveLength(1)
  expect(rows[0]!.wrapped_jwk).not.toContain('{')
  expect(JSON.parse(rows[0]!.public_jwk)).not.toHaveProperty('d')
})

test('refuses another master key', async () => {
  await expect(createKeyring(service.storage, randomBytes(32))).rejects.toMatchObject({
    code: 'wrong_master_key',
  })
})
