import { randomInt } from 'node:crypto'
import canonicalize from 'canonicalize'
import { SignJWT, type JWTPayload } from 'jose'
import { readContext, type ApprovalContext } from '../../src/receipt/context.ts'
import type { Receipt } from '../../src/receipt/receipt.ts'
import type { Issuer } from '../receipt/specimen.ts'

/** A genuine receipt, another one, the service that signed both, one that is not in the key set, and `retired`, which is. */
export type Case = { receipt: Receipt; other: Receipt; issuer: Issuer; retired: Issuer; stranger: Issuer }

const typ = 'approval-receipt+jwt'
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)]!
const partsOf = ({ jws }: Receipt) => jws.split('.') as [string, string, string]
const headerOf = (receipt: Receipt) =>
  JSON.parse(Buffer.from(partsOf(receipt)[0], 'base64url').toString()) as object

const flipped = (part: string): string => {
  const bytes = Buffer.from(part, 'base64url')
  bytes[randomInt(bytes.length)]! ^= 1 << randomInt(8)
  return bytes.toString('base64url')
}
const flip =
  (at: 0 | 1 | 2) =>
  ({ receipt }: Case) => {
    const parts = partsOf(receipt)
    parts[at] = flipped(parts[at])
    return parts.join('.')
  }

/** Another string that a lax decoder reads as the same bytes. */
const respelled = (part: string): string => {
  const at = randomInt(1, part.length)
  const strayBits = (alphabet: string) => alphabet[alphabet.indexOf(part.at(-1)!) ^ 1]!
  const spellings = [
    `${part}=`,
    `${part}==`,
    `${part.slice(0, at)}\n${part.slice(at)}`,
    `${part.slice(0, at)}.${part.slice(at)}`,
    ...(/[-_]/.test(part) ? [part.replaceAll('-', '+').replaceAll('_', '/')] : []),
    // 64 bytes end in a character with four unused bits.
    ...(part.length % 4 === 2
      ? [part.slice(0, -1) + strayBits('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')]
      : []),
  ]
  return pick(spellings)
}

const otherClaims: ((claims: Receipt['claims'], other: Receipt['claims']) => Record<string, unknown>)[] = [
  ({ action }) => ({ action: `${action} and more` }),
  ({ action }) => ({ action: action.normalize('NFD').replace(' ', '\u00a0') }),
  (_, { sub }) => ({ sub: `${sub}0` }),
  ({ aud }) => ({ aud: aud.toUpperCase() }),
  ({ approver }) => ({ approver: { ...approver, name: 'Ada Lovelacé' } }),
  ({ lines }) => ({ lines: [...lines, ...lines] }),
  () => ({ rules: [{ name: 'destroy', digest: '0'.repeat(64) }] }),
  (_, { jti }) => ({ jti }),
  ({ reason }) => ({ reason: reason === null ? 'because' : null }),
  () => ({ action_sha256: '0'.repeat(64) }),
]

const otherContexts: ((context: ApprovalContext) => Partial<ApprovalContext>)[] = [
  ({ action }) => ({ action: `${action}!` }),
  ({ decision }) => ({ decision: decision === 'approve' ? 'deny' : 'approve' }),
  ({ approver }) => ({ approver: { ...approver, mobile: `${approver.mobile}7` } }),
  ({ approver }) => ({ approver: { ...approver, twin: !approver.twin } }),
  ({ lines }) => ({ lines: [{ ...lines[0]!, group: { id: '1', name: 'sre' } }] }),
  () => ({ rules: [{ name: 'destroy', digest: '0'.repeat(64) }] }),
  () => ({ grant: { free: [], seconds: 3600, uses: 20 } }),
  ({ requester }) => ({ requester: `${requester}x` }),
  ({ request_id }) => ({ request_id: `${request_id}x` }),
  ({ factors }) => ({ factors: [...factors, 'device'] }),
  ({ nonce }) => ({ nonce: `${nonce.slice(1)}A` }),
  ({ request_expires_at }) => ({ request_expires_at: request_expires_at.replace('2030', '2031') }),
]

const respelledContexts: ((json: string) => string)[] = [
  (json) => `${json} `,
  (json) => `\uFEFF${json}`,
  (json) => json.replace(',"approver"', ', "approver"'),
  (json) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json) as object).toReversed())),
  (json) => json.replace('{', '{"action":"x",'),
  (json) => json.replace('"decision":"', '"decision":"\\u0061pprove","decision":"'),
]

const failedFactor = {
  factor: 'time',
  policy: 'required',
  result: 'FAIL',
  reason: 'outside every slot',
  expected: null,
  observed: null,
}

/** Claims with `change`, with a valid signature, as from a dishonest service or a stolen key. */
const resign =
  (change: (one: Case) => Record<string, unknown>) =>
  (one: Case): Promise<string> =>
    one.issuer.sign({ ...one.receipt.claims, ...change(one) }, typ)

const evidence = (change: (one: Case) => Partial<Receipt['claims']['evidence']>) =>
  resign((one) => ({ evidence: { ...one.receipt.claims.evidence, ...change(one) } }))

const contextOf = ({ receipt }: Case) => readContext(Buffer.from(receipt.claims.context, 'base64url'))
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** Modified text of the receipt, none of which may verify. */
export const kinds: Record<string, (one: Case) => string | Promise<string>> = {
  'bit of the header': flip(0),
  'bit of the payload': flip(1),
  'bit of the signature': flip(2),
  'base64url respelled': ({ receipt }) => {
    const parts = partsOf(receipt)
    const at = randomInt(3)
    parts[at] = respelled(parts[at]!)
    return parts.join('.')
  },
  'claims edited': ({ receipt, other }) => {
    const [header, , signature] = partsOf(receipt)
    const claims = { ...receipt.claims, ...pick(otherClaims)(receipt.claims, other.claims) }
    return [header, encode(claims), signature].join('.')
  },
  'claims in another order': ({ receipt }) => {
    const [header, , signature] = partsOf(receipt)
    const claims = Object.fromEntries(Object.entries(receipt.claims).toReversed())
    return [header, encode(claims), signature].join('.')
  },
  'signature of another': ({ receipt, other }) =>
    [...partsOf(receipt).slice(0, 2), partsOf(other)[2]].join('.'),
  'alg none': ({ receipt }) => {
    const header = encode({ ...headerOf(receipt), alg: pick(['none', 'None', 'NONE', '']) })
    return [header, partsOf(receipt)[1], pick(['', 'AA', partsOf(receipt)[2]])].join('.')
  },
  'alg HS256 under the public key': ({ receipt, issuer }) =>
    new SignJWT(receipt.claims as unknown as JWTPayload)
      .setProtectedHeader({ alg: 'HS256', typ, kid: issuer.kid })
      .sign(
        new TextEncoder().encode(pick([JSON.stringify(issuer.publicJwk), issuer.publicJwk.x!, issuer.kid])),
      ),
  'kid of another key': ({ receipt, retired, stranger }) =>
    [
      encode({ ...headerOf(receipt), kid: pick([retired.kid, stranger.kid]) }),
      ...partsOf(receipt).slice(1),
    ].join('.'),
  'key of a stranger': ({ receipt, issuer, stranger }) =>
    new SignJWT(receipt.claims as unknown as JWTPayload)
      .setProtectedHeader(
        pick([
          { alg: stranger.alg, typ, kid: issuer.kid },
          { alg: stranger.alg, typ, kid: stranger.kid },
          { alg: stranger.alg, typ, kid: stranger.kid, jwk: stranger.publicJwk },
        ]),
      )
      .sign(stranger.privateKey),
  'another type': ({ receipt, issuer }) =>
    issuer.sign(receipt.claims, pick(['JWT', 'audit-head+jwt', `${typ} `, ''])),
  'copy edited': ({ receipt, other }) =>
    JSON.stringify({
      ...receipt,
      claims: { ...receipt.claims, ...pick(otherClaims)(receipt.claims, other.claims) },
    }),
  'copy of another': ({ receipt, other }) => JSON.stringify({ ...other, jws: receipt.jws }),
  'member twice': ({ receipt, other }) =>
    JSON.stringify(receipt).replace('{', `{${JSON.stringify({ jws: other.jws }).slice(1, -1)},`),
  'signed: claims edited': resign(({ receipt, other }) => pick(otherClaims)(receipt.claims, other.claims)),
  'signed: decision turned': resign(({ receipt }) => ({
    status: receipt.claims.status === 'approved' ? 'denied' : 'approved',
  })),
  'signed: claims and context edited': (one) => {
    const context = { ...contextOf(one), ...pick(otherContexts)(contextOf(one)) }
    const { approver, lines, rules, requester: aud, request_id: jti, action } = context
    const sub = approver.mobile
    const status = context.decision === 'approve' ? 'approved' : 'denied'
    // Also one that no device can sign, such as a denial that grants something.
    const bytes = base64url(Buffer.from(canonicalize(context)!))
    return resign(() => ({ sub, approver, lines, rules, aud, jti, action, status, context: bytes }))(one)
  },
  'signed: context respelled': resign(({ receipt }) => {
    const json = Buffer.from(receipt.claims.context, 'base64url').toString()
    return { context: base64url(Buffer.from(pick(respelledContexts)(json))) }
  }),
  'signed: evidence of another': resign(({ other }) => ({ evidence: other.claims.evidence })),
  'signed: part of the evidence of another': evidence(({ other }) => {
    const part = pick(['public_key', 'client_data_json', 'signature'] as const)
    return { [part]: other.claims.evidence[part] }
  }),
  'signed: bit of the evidence': evidence(({ receipt }) => {
    const part = pick(['public_key', 'authenticator_data', 'client_data_json', 'signature'] as const)
    return { [part]: flipped(receipt.claims.evidence[part]) }
  }),
  'signed: site of the evidence': evidence(() =>
    pick([{ origin: 'https://evil.example' }, { rp_id: 'evil.example' }, { rp_id: 'com' }]),
  ),
  'signed: means': resign(({ receipt }) =>
    pick([
      { amr: ['face'] },
      { amr: [...receipt.claims.amr, 'fpt'] },
      { amr: [] },
      { dev: receipt.claims.dev ? undefined : true },
    ]),
  ),
  'signed: factors and number': resign(({ receipt: { claims } }) =>
    pick<Record<string, unknown>>([
      { factors: [...claims.factors, { ...failedFactor, factor: 'ip' }], status: 'approved' },
      { factors: [failedFactor, failedFactor] },
      { number_matched: false, status: 'approved' },
      { number_matched: 'yes' },
    ]),
  ),
  'signed: note': (one) => {
    const note = pick(['Go ahead', 'x'.repeat(281), ''])
    const context = { ...contextOf(one), note }
    const bytes = Buffer.from(canonicalize(context)!)
    return resign(() => pick<Record<string, unknown>>([{ note }, { note, context: base64url(bytes) }]))(one)
  },
  'signed: time': resign(({ receipt }) => ({ iat: receipt.claims.iat + pick([-600, 600, 86_400, -1e9]) })),
  'signed: member more': resign(() => pick([{ exp: 4e9 }, { admin: true }, { result: 'PASS' }])),
}
