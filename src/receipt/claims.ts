import * as z from 'zod/mini'
import {
  approvalLines,
  approver,
  denialNote,
  holdingRules,
  organization,
  phone,
  requestingKey,
  sha256Hex,
  someText,
  wellFormed,
  word,
} from './context.ts'
import { evidenceShape, type Flags } from './evidence.ts'
import type { Jws } from './jws.ts'

/** `typ` of the JWS. A format with other members needs another `typ`. */
export const receiptType = 'approval-receipt+jwt'

const factorResult = z.strictObject({
  factor: word,
  /** Whether the decision required it; `report_only` and null never prevent an approval. */
  policy: z.nullable(z.enum(['required', 'report_only'])),
  result: z.enum(['PASS', 'FAIL', 'NOT_APPLICABLE', 'INSUFFICIENT_DATA']),
  reason: wellFormed,
  expected: z.json(),
  observed: z.json(),
})

/**
 * How the origin of the device is related to the requesting key: the root keys behind its enrollment, followed through the
 * devices that added or approved it. The worst of them counts: `self`, `unknown`, `creator`, `other`, `operator`.
 */
export const relations = ['self', 'creator', 'other', 'operator', 'unknown'] as const

export const claimsShape = z.strictObject({
  iss: someText,
  /** The number of the approver, E.164. */
  sub: phone,
  approver,
  /** The requester. */
  aud: someText,
  /** When it was decided, in seconds. There is no `exp`: proof of a past decision does not expire. */
  iat: z.int().check(z.positive()),
  /** The request's id. */
  jti: someText,
  status: z.enum(['approved', 'denied']),
  /** The action as the requester described it. The approver saw the rendered subject. */
  action: someText,
  /** Lower-case hex, as `printf %s "$action" | sha256sum` prints it. */
  action_sha256: sha256Hex,
  reason: z.nullable(wellFormed),
  factors: z.array(factorResult),
  /** RFC 8176. */
  amr: z.array(z.string()),
  /** Null if no number was required. */
  number_matched: z.nullable(z.boolean()),
  /** The exact bytes whose hash the human signed, base64url. */
  context: z.string(),
  evidence: evidenceShape,
  /** Made with a software key, on a service started for development. */
  dev: z.optional(z.literal(true)),
  organization,
  key: requestingKey,
  /** Who had to agree. One person satisfies at most one line. */
  lines: approvalLines,
  rules: holdingRules,
  subject: z.strictObject({ type: word, data: z.record(z.string(), z.json()), digest: sha256Hex }),
  /** How, when and by which key the device became the approver's. */
  device: z.strictObject({
    id: someText,
    proof: z.enum(['link', 'otp', 'device', 'admin']),
    bound_at: z.string(),
    /** The root key that is related most closely. */
    enrolled_by: z.strictObject({
      key_id: z.nullable(z.string()),
      name: z.nullable(wellFormed),
      relation: z.enum(relations),
    }),
  }),
  /** Whether the requesting key could have changed who approves. */
  influences: z.boolean(),
  /** What the approver wrote with a denial. */
  note: z.optional(denialNote),
})

export type ReceiptClaims = z.infer<typeof claimsShape>
export type Relation = (typeof relations)[number]
export type DeviceClaim = ReceiptClaims['device']
export type FactorResult = z.infer<typeof factorResult>

/** The `attestation` of an answer. */
export type Receipt = Jws<ReceiptClaims>

/**
 * How the approver was authenticated, from what the authenticator signed: a key and, unless a denial only required presence,
 * a verified user, hence `mfa`.
 * A key that can be synced is only `pop`; one bound to its device is `hwk`, which is its own claim: nothing attests it.
 */
export const amrOf = ({ backup_eligible, user_verified }: Flags, dev: boolean): string[] => {
  const bound = backup_eligible ? 'pop' : 'hwk'
  return [dev ? 'swk' : bound, 'user', ...(user_verified ? ['mfa'] : [])]
}

/** Why the factors and the number do not support an approval with these requested factors; undefined if they do. */
export const approvalProblem = (
  requested: readonly string[],
  { factors, number_matched }: Pick<ReceiptClaims, 'factors' | 'number_matched'>,
): string | undefined => {
  if (number_matched === false) return 'the number did not match'
  const unmet = factors.find(({ policy, result }) => policy === 'required' && result !== 'PASS')
  if (unmet) return `${unmet.factor} was required and is ${unmet.result}`
  const open = requested.find(
    (name) =>
      !factors.some(
        ({ factor, policy, result }) => factor === name && (result === 'PASS' || policy === 'report_only'),
      ),
  )
  return open === undefined ? undefined : `${open} was requested and did not pass`
}
