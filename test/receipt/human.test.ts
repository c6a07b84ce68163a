import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../src/receipt/verify.ts'
import { assert } from '../../src/client/software-authenticator.ts'
import { challengeOf, contextBytes } from '../../src/receipt/context.ts'
import type { Receipt, ReceiptClaims } from '../../src/receipt/receipt.ts'
import { sentence } from '../../src/receipt/sentence.ts'
import { failedChecks } from './failed-checks.ts'
import { approval, approverKey, createIssuer, now, ours, site, specimen } from './specimen.ts'

const issuer = await createIssuer()
const key = approverKey()
const receipt = await specimen(issuer, approval, key)
const denial = await specimen(issuer, { ...approval, decision: 'deny' }, key)
const failed = failedChecks(issuer)

/** What a dishonest or broken service would sign: other claims, with a valid signature. */
const resigned = (change: Partial<Record<keyof ReceiptClaims, unknown>> & Record<string, unknown>) =>
  issuer.sign({ ...receipt.claims, ...change }, 'approval-receipt+jwt')
const evidence = (change: Partial<ReceiptClaims['evidence']>) =>
  resigned({ evidence: { ...receipt.claims.evidence, ...change } })

test('describes when and how the human signed, in words and ISO times', async () => {
  const { checks } = await verifyReceipt(receipt, issuer.jwks, ours, now)
  const details = new Map(checks.map(({ name, detail }) => [name, detail]))
  expect(details.get('time')).toBe(
    'decided at 2030-01-31T12:00:41Z, requested at 2030-01-31T12:00:00Z, valid until 2030-01-31T12:02:00Z',
  )
  expect(details.get('means')).toBe(
    'a key bound to the device (hwk), user presence (user), several factors (mfa)',
  )
})

test('is not valid, and states no facts, if what the device signed cannot be read', async () => {
  const client_data_json = Buffer.from('{"type":"webauthn.get","crossOrigin":fal3e}').toString('base64url')
  const verdict = await verifyReceipt(await evidence({ client_data_json }), issuer.jwks, ours, now)
  expect(verdict).toMatchObject({ valid: false, facts: [] })
  expect(verdict.checks.filter(({ ok }) => !ok)).not.toEqual([])
})

/** What the check of this name says. */
const detailOf = async (one: Receipt, name: string): Promise<string | undefined> => {
  const { checks } = await verifyReceipt(one, issuer.jwks, { ...ours, allowDev: true }, now)
  return checks.find((check) => check.name === name)?.detail
}

test('never shows a decision before its request', async () => {
  const requested_at = '2030-01-31T12:00:41.700Z'
  const decidedAt = new Date('2030-01-31T12:00:41.900Z')
  const quick = await specimen(issuer, { ...approval, requested_at }, key, { decidedAt })
  expect(await detailOf(quick, 'time')).toContain(
    'decided at 2030-01-31T12:00:41Z, requested at 2030-01-31T12:00:41Z',
  )
  const behind = await specimen(issuer, { ...approval, requested_at }, key, {
    decidedAt: new Date('2030-01-31T12:00:38.900Z'),
  })
  expect(await detailOf(behind, 'time')).toBe(
    'decided by a clock that is 3 s behind the clock of the request, requested at 2030-01-31T12:00:41Z, valid until 2030-01-31T12:02:00Z',
  )
})

test('says of a software key that a program answered, and nothing about a person', async () => {
  const dev = await specimen(issuer, approval, key, { dev: true })
  const verdict = await verifyReceipt(dev, issuer.jwks, { ...ours, allowDev: true }, now)
  expect(verdict.valid).toBe(true)
  const text = verdict.checks.map(({ name, detail }) => `${name}: ${detail}`)
  expect(text).toContain(
    'software key: a program answered for the approver; no fingerprint, face or PIN was checked',
  )
  expect(text).toContain(
    'means: a software key (swk); it claims user presence (user), several factors (mfa), which proves nothing',
  )
  expect(text).toContain(
    'factors: biometric PASS, location PASS; biometric means only that the software key signed',
  )
  expect(text.join()).not.toMatch(/human|user verified|by fingerprint/)
  expect(verdict.facts[0]).toBe('A software key signed it, which proves nothing about a person')
  expect(sentence(verdict)).toMatch(/^Valid: a software key approved ".*" for \+12025550101 at /)
})

test('says that a device was only touched for a denial', async () => {
  const touched = await specimen(issuer, { ...approval, decision: 'deny' }, key, {}, { userVerified: false })
  const verdict = await verifyReceipt(touched, issuer.jwks, { ...ours, status: 'denied' }, now)
  expect(verdict.valid).toBe(true)
  expect(verdict.receipts[0]!.amr).toEqual(['hwk', 'user'])
  expect(verdict.facts).toContain('The denial required only a touch: the device did not verify its user')
  const names = verdict.checks.map(({ name }) => name)
  expect(names).toContain('user present')
  expect(names).not.toContain('user verified')
})

describe('a service that signs what the human did not sign', () => {
  test.each<[string, Parameters<typeof resigned>[0]]>([
    ['claims', { sub: '+12025550102' }],
    ['claims', { aud: 'someone else' }],
    ['claims', { jti: 'apr_other' }],
    ['claims', { reason: null }],
    ['claims', { organization: { id: '8', slug: 'acme' } }],
    ['claims', { key: { ...receipt.claims.key, id: '4' } }],
    ['claims', { key: { ...receipt.claims.key, scopes: ['ask', 'keys'] } }],
    ['subject', { subject: { ...receipt.claims.subject, data: { text: 'Delete production' } } }],
    ['subject', { subject: { ...receipt.claims.subject, data: {} } }],
    ['shape', { organization: { id: 'acme', slug: 'acme' } }],
    ['shape', { device: { ...receipt.claims.device, proof: 'word of mouth' } }],
    ['shape', { influences: 'no' }],
    ['decision', { status: 'denied' }],
    ['action hash', { action_sha256: '0'.repeat(64) }],
    ['time', { iat: receipt.claims.iat - 60 }],
    ['time', { iat: receipt.claims.iat + 120 }],
    ['conditions', { factors: [] }],
    ['factors', { factors: [...receipt.claims.factors, receipt.claims.factors[0]] }],
    ['conditions', { factors: receipt.claims.factors.map((one) => ({ ...one, result: 'FAIL' })) }],
    [
      'conditions',
      { factors: receipt.claims.factors.map((one) => ({ ...one, policy: null, result: 'FAIL' })) },
    ],
    [
      'conditions',
      {
        factors: [...receipt.claims.factors, { ...receipt.claims.factors[0], factor: 'ip', result: 'FAIL' }],
      },
    ],
    ['conditions', { number_matched: false }],
    ['means', { amr: ['face'] }],
    ['means', { amr: ['swk', 'user', 'mfa'] }],
    ['means', { dev: true }],
    ['shape', { exp: 1 }],
    ['shape', { admin: true }],
    ['shape', { iat: '1' }],
    ['shape', { dev: false }],
    ['context', { context: 'e30' }],
    ['context', { context: `${receipt.claims.context}=` }],
  ])('is detected by: %s, %o', async (name, change) => {
    expect(
      await failed(await resigned(change), { status: change.status as 'denied', allowDev: true }),
    ).toEqual([name])
  })

  test('is detected with another action, even with a new hash', async () => {
    const names = await failed(await resigned({ action: 'Delete production' }))
    expect(names).toEqual(['claims', 'action hash'])
  })

  test('is detected when it turns a denial into an approval', async () => {
    const claims = { ...denial.claims, status: 'approved', context: receipt.claims.context }
    const names = await failed(await issuer.sign(claims, 'approval-receipt+jwt'))
    expect(names).toEqual(['challenge', 'human signature'])
  })

  test('is detected when it replaces context and claims together', async () => {
    const context = { ...approval, action: 'Delete production' }
    const other = await specimen(issuer, context, approverKey())
    const claims = { ...other.claims, evidence: receipt.claims.evidence }
    const names = await failed(await issuer.sign(claims, 'approval-receipt+jwt'))
    expect(names).toEqual(['challenge', 'human signature'])
  })

  test.each<[string, Partial<ReceiptClaims['evidence']>]>([
    ['public key', { public_key: approverKey().public_key_cose }],
    ['signature', { signature: denial.claims.evidence.signature }],
    ['origin, another domain', { origin: 'https://approve.example.org' }],
    ['origin, another protocol', { origin: 'http://approve.example.com' }],
    ['RP ID, a parent domain', { rp_id: 'example.com' }],
    ['RP ID, a top-level domain', { rp_id: 'com' }],
    ['algorithm', { algorithm: -8 }],
  ])('is detected by other evidence: %s', async (_, change) => {
    expect(await failed(await evidence(change))).toEqual(['human signature'])
  })

  test('is detected when nobody was verified, although the right key signed', async () => {
    const challenge = challengeOf(contextBytes(approval))
    const { response } = assert(key, { challenge, origin: site.origin, rpId: site.rp_id }, false)
    const change = { authenticator_data: response.authenticatorData, signature: response.signature }
    expect(await failed(await evidence(change))).toEqual(['user verified', 'human signature', 'means'])
  })

  test('is detected when the claims say that the user of a touched device was verified', async () => {
    const touched = await specimen(
      issuer,
      { ...approval, decision: 'deny' },
      key,
      {},
      { userVerified: false },
    )
    expect(await failed(touched, { status: 'denied' })).toEqual([])
    const claims = { ...touched.claims, amr: ['hwk', 'user', 'mfa'] }
    const names = await failed(await issuer.sign(claims, 'approval-receipt+jwt'), { status: 'denied' })
    expect(names).toEqual(['means'])
  })

  test('is detected when another key signed and a key was pinned', async () => {
    const forged = await specimen(issuer, approval, approverKey())
    expect(await failed(forged)).toEqual([])
    expect(await failed(forged, { pinnedKey: key.public_key_cose })).toEqual(['pinned key'])
  })

  test('is not suspected for a factor that is only reported', async () => {
    const [first, second] = receipt.claims.factors
    const reported = { ...first!, policy: 'report_only' as const, result: 'FAIL' as const }
    const factors = [reported, second!, { ...reported, factor: 'time', policy: null }]
    expect(await failed(await resigned({ factors }))).toEqual([])
    expect(await failed(await resigned({ factors }), { factors: ['biometric'] })).toEqual([
      'expected factor biometric',
    ])
  })

  test('is not suspected for a denial although other factors failed', async () => {
    const factors = denial.claims.factors.map((one) => ({ ...one, result: 'FAIL' }))
    const claims = { ...denial.claims, factors, number_matched: false }
    expect(await failed(await issuer.sign(claims, 'approval-receipt+jwt'), { status: 'denied' })).toEqual([])
  })
})
