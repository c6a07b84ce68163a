import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { createClock, day, minute } from '../clock.ts'
import { auditOf, contentsOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { createMobileUser, type MobileUser } from '../mobile-user.ts'

const invalid = [401, 'refresh_token_invalid', []]

let clock: ReturnType<typeof createClock>
let service: TestService
let user: MobileUser
beforeEach(async () => {
  clock = createClock()
  service = await startTestService({ now: clock.now })
  user = await createMobileUser(service)
})
afterEach(() => service.close())

const refresh = (refresh_token: string, key?: string) =>
  service.call('POST', '/wp/mobile/refresh/token', { key, body: { refresh_token } })

describe('an access token', () => {
  test('verifies with the published keys, names the user and expires after 15 minutes', async () => {
    const keys = createLocalJWKSet((await service.call('GET', '/.well-known/jwks.json')).body)
    const issuer = 'http://127.0.0.1:8080'
    const { payload, protectedHeader } = await jwtVerify(user.access_token, keys, {
      issuer,
      audience: issuer,
      typ: 'at+jwt',
      currentDate: clock.now(),
    })
    expect(protectedHeader.alg).toBe('EdDSA')
    const caller = (await service.call('GET', '/svc/v1/whoami')).body.data
    expect(payload).toMatchObject({
      sub: String(user.user_id),
      org_id: 0,
      client_id: `key:${caller.id}`,
    })
    expect(payload.exp! - payload.iat!).toBe(15 * 60)
  })

  test('contains the organization of the key that requested it', async () => {
    const acme = await createTenant(service, 'acme')
    const { access_token } = await createMobileUser(service, {
      key: acme.key,
      mobile: '2025550102',
    })
    expect(JSON.parse(Buffer.from(access_token.split('.')[1]!, 'base64url').toString())).toMatchObject({
      org_id: acme.id,
    })
  })
})

describe('a refresh token', () => {
  test('works once, for the next pair', async () => {
    const next = dataOf(await refresh(user.refresh_token))
    expect(next.user_id).toBe(user.user_id)
    expect(next.refresh_token).not.toBe(user.refresh_token)
    expect(next.access_token).not.toBe(user.access_token)
    dataOf(await refresh(next.refresh_token))
  })

  test('that is used twice ends the sign-in, also for the newest token', async () => {
    const next = dataOf(await refresh(user.refresh_token))
    expect(refusal(await refresh(user.refresh_token))).toEqual(invalid)
    expect(refusal(await refresh(next.refresh_token))).toEqual(invalid)
    expect(await auditOf(service, 0)).toContainEqual([
      'refreshMobileToken',
      `user:${user.user_id}`,
      ['refresh_token reused', 'sign-in ended'],
    ])
  })

  test('of another sign-in of the same person stays valid', async () => {
    clock.tick(10 * minute)
    const other = await createMobileUser(service)
    dataOf(await refresh(user.refresh_token))
    await refresh(user.refresh_token)
    expect(dataOf(await refresh(other.refresh_token)).user_id).toBe(user.user_id)
  })

  test('is used up by one of fifty concurrent requests, which end the sign-in', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(user.refresh_token)))
    const good = answers.filter(({ status }) => status === 200)
    expect(good).toHaveLength(1)
    expect(refusal(await refresh(good[0]!.body.data.refresh_token))).toEqual(invalid)
  })

  test('expires after thirty days', async () => {
    clock.tick(30 * day)
    expect(refusal(await refresh(user.refresh_token))).toEqual(invalid)
  })

  test('is not valid for longer, nor as another one, because another program wrote so', async () => {
    const made = 'a'.repeat(43)
    await service.runSql('UPDATE refresh_tokens SET token_hash = ?', [sha256(made)])
    expect(refusal(await refresh(made))).toEqual(invalid)
    await service.runSql('UPDATE refresh_tokens SET token_hash = ?', [sha256(user.refresh_token)])
    const expires_at = new Date(clock.now().getTime() + 60 * day).toISOString()
    clock.tick(30 * day)
    await service.runSql('UPDATE refresh_tokens SET expires_at = ?', [expires_at])
    expect(refusal(await refresh(user.refresh_token))).toEqual(invalid)
  })

  test('has the same answer if it is invalid and if it belongs to another key', async () => {
    const acme = await createTenant(service, 'acme')
    const foreign = await refresh(user.refresh_token, acme.key)
    expect(foreign.body).toEqual((await refresh('made-up')).body)
    dataOf(await refresh(user.refresh_token))
  })

  test('is stored only as a hash', async () => {
    expect(JSON.stringify(await contentsOf(service))).not.toContain(user.refresh_token)
  })

  test('is not returned again for a repeated request', async () => {
    const options = {
      body: { refresh_token: user.refresh_token },
      headers: { 'idempotency-key': 'once' },
    }
    dataOf(await service.call('POST', '/wp/mobile/refresh/token', options))
    const again = dataOf(await service.call('POST', '/wp/mobile/refresh/token', options))
    expect(again).toEqual({
      user_id: user.user_id,
      expires_at: expect.any(String),
      refresh_expires_at: expect.any(String),
      secret_already_shown: true,
    })
  })
})
