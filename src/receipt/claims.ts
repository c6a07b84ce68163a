import * as z from 'zod/mini'
import { phone, wellFormed, word } from './context.ts'
import { evidenceShape, readEvidence, type Evidence } from './evidence.ts'

/** `typ` of the JWS. A member that is not below makes another format, so it needs another `typ`. */
export const receiptType = 'approval-receipt+jwt'

const factorResult = z.strictObject({
  factor: word,
  /** Whether the decision needed it; a report or null never hinders. */
  policy: z.nullable(z.enum(['required', 'report_only'])),
  result: z.enum(['PASS', 'FAIL', 'NOT_APPLICABLE', 'INSUFFICIENT_DATA']),
  reason: wellFormed,
  expected: z.json(),
  observed: z.json(),
})

export const claimsShape = z.strictObject({
  iss: wellFormed.check(z.minLength(1)),
  /** The approver, E.164. */
  sub: phone,
  /** The requester. */
  aud: wellFormed.check(z.minLength(1)),
  /** When it was decided, in seconds. There is no `exp`: a proof of the past does not lapse. */
  iat: z.int().check(z.positive()),
  /** The request's id. */
  jti: wellFormed.check(z.minLength(1)),
  status: z.enum(['approved', 'denied']),
  action: wellFormed.check(z.minLength(1)),
  /** Lower-case hex, as `printf %s "$action" | sha256sum` prints it. */
  action_sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hex')),
  reason: z.nullable(wellFormed),
  factors: z.array(factorResult),
  /** RFC 8176. */
  amr: z.array(z.string()),
  /** Null where no number was asked. */
  number_matched: z.nullable(z.boolean()),
  /** The exact bytes that the human signed the hash of, base64url. */
  context: z.string(),
  evidence: evidenceShape,
  /** Made with a software key, on a service started for development. */
  dev: z.optional(z.literal(true)),
})

export type ReceiptClaims = z.infer<typeof claimsShape>
export type FactorResult = z.infer<typeof factorResult>

/** The `attestation` of an answer: the JWS is the proof, `kid` and `claims` are there to be read. */
export type Receipt = { format: 'jws'; jws: string; kid: string; claims: ReceiptClaims }

/**
 * How the approver was authenticated, from what the authenticator signed: a key and a verified user, hence `mfa`.
 * A key that may be synced is only `pop`; one bound to its device is `hwk` by its own word, as nothing attests it.
 */
export const amrOf = (evidence: Evidence, dev: boolean): string[] => {
  const bound = readEvidence(evidence).backup_eligible ? 'pop' : 'hwk'
  return [dev ? 'swk' : bound, 'user', 'mfa']
}

/** Why the factors and the number do not bear an approval that asked for `asked`; undefined when they do. */
export const approvalProblem = (
  asked: readonly string[],
  { factors, number_matched }: Pick<ReceiptClaims, 'factors' | 'number_matched'>,
): string | undefined => {
  if (number_matched === false) return 'the number did not match'
  const unmet = factors.find(({ policy, result }) => policy === 'required' && result !== 'PASS')
  if (unmet) return `${unmet.factor} was required and is ${unmet.result}`
  const open = asked.find(
    (name) =>
      !factors.some(
        ({ factor, policy, result }) => factor === name && (result === 'PASS' || policy === 'report_only'),
      ),
  )
  return open === undefined ? undefined : `${open} was asked for and did not pass`
}
