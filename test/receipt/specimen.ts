import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose'
import { assert, createSoftwareKey, type SoftwareKey } from '../../src/client/software-authenticator.ts'
import { verifyAssertion, type Credential } from '../../src/receipt/assertion.ts'
import { challengeOf, contextBytes, type ApprovalContext } from '../../src/receipt/context.ts'
import type { SignClaims } from '../../src/receipt/jws.ts'
import { createReceipt, type ReceiptParts } from '../../src/receipt/receipt.ts'
import { digestOf, textSubject, type Subject } from '../../src/receipt/subject.ts'

/** A signing service: its key set, and `sign` with the interface of the keyring. */
export const createIssuer = async (alg: 'EdDSA' | 'ES256' = 'EdDSA') => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const half: JWK = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(half)
  const publicJwk: JWK = { ...half, kid, alg, use: 'sig' }
  const sign: SignClaims = (claims, typ) =>
    new SignJWT(claims).setProtectedHeader({ alg, typ, kid }).sign(privateKey)
  return { alg, kid, sign, privateKey, publicJwk, jwks: { keys: [publicJwk] } }
}

export type Issuer = Awaited<ReturnType<typeof createIssuer>>

export const site = { origin: 'https://approve.example.com', rp_id: 'approve.example.com' }

export const approverKey = (alg: SoftwareKey['alg'] = 'ES256'): SoftwareKey =>
  createSoftwareKey(alg, { rpId: site.rp_id })

export const credentialOf = (key: SoftwareKey): Credential => ({
  credential_id: key.credential_id,
  public_key: key.public_key_cose,
  algorithm: key.alg === 'ES256' ? -7 : -8,
  user_handle: key.user_handle,
  counter: 0,
})

const action = 'Deploy 4.2 to production ✓'

export const signedSubject = ({ type, data }: Subject) => ({ type, digest: digestOf(data) })

export const approval: ApprovalContext = {
  type: 'approval',
  format: 1,
  request_id: 'apr_3vQ1kZ',
  action,
  organization: { id: '7', slug: 'acme' },
  key: { id: '3', name: 'ci', scopes: ['ask'] },
  subject: signedSubject(textSubject(action)),
  reason: 'release day',
  requester: 'ci@acme',
  approver: { user_id: '5', name: 'Ada Lovelace', mobile: '+12025550101', twin: false },
  lines: [{ people: ['5'], need: 1, group: null, rules: [], separated: false }],
  rules: [],
  factors: ['biometric', 'location'],
  decision: 'approve',
  nonce: 'AAECAwQFBgcICQoLDA0ODw',
  requested_at: '2030-01-31T12:00:00.000Z',
  request_expires_at: '2030-01-31T12:02:00.000Z',
}

export const device: ReceiptParts['device'] = {
  id: '5',
  proof: 'link',
  bound_at: '2030-01-01T09:00:00.000Z',
  enrolled_by: { key_id: '1', name: 'operator', relation: 'operator' },
}

/** The expected organization and issuer, so that no further values are required. */
export const ours = { organization: 'acme', issuer: 'https://approve.example.com' }

export const decidedAt = new Date('2030-01-31T12:00:41.500Z')
export const now = new Date('2030-01-31T12:10:00.000Z')

/** A genuine receipt of `context`, issued as the service does. */
export const specimen = async (
  issuer: Issuer,
  request: ApprovalContext = approval,
  key: SoftwareKey = approverKey(),
  changes: Partial<ReceiptParts> = {},
  { userVerified = true } = {},
) => {
  const subject = changes.subject ?? textSubject(request.action)
  const context = { ...request, subject: signedSubject(subject) }
  const bytes = contextBytes(context)
  const challenge = challengeOf(bytes)
  const posted = assert(key, { challenge, origin: site.origin, rpId: site.rp_id }, userVerified)
  const presence = !userVerified
  const checked = verifyAssertion(posted, credentialOf(key), site, challenge, { presence })
  if (!checked.ok) throw new Error(checked.problem)
  const factors = context.factors.map((factor) => ({
    factor,
    policy: 'required' as const,
    result: 'PASS' as const,
    reason: 'as it should be',
    expected: null,
    observed: factor === 'location' ? { accuracy_m: 8 } : null,
  }))
  const parts: ReceiptParts = {
    issuer: 'https://approve.example.com',
    decidedAt,
    context: bytes,
    evidence: checked.evidence,
    factors,
    number_matched: null,
    dev: false,
    device,
    influences: false,
    subject,
    ...changes,
  }
  return createReceipt(parts, issuer.sign)
}
