import * as z from 'zod/mini'
import { sha256 } from '../core/ids.ts'
import { assign } from '../core/assignment.ts'
import type { Receipt } from './claims.ts'
import { approvalLines, holdingRules, id, organization, sha256Hex, someText, word } from './context.ts'
import { yesOf } from './lines.ts'
import { type Jws, type SignClaims, signJws } from './jws.ts'

// A request of several people is proved by all of their receipts, and by the signature of the service that they are all of
// them. So the yeses of a request that ended otherwise are not an approval.

/** `typ` of the completion. */
export const completionType = 'approval-completion+jwt'

export const completionShape = z.strictObject({
  iss: someText,
  /** When the last line was satisfied, in seconds. */
  iat: z.int().check(z.positive()),
  /** The request's id. */
  jti: someText,
  organization,
  subject: z.strictObject({ type: word, digest: sha256Hex }),
  lines: approvalLines,
  rules: holdingRules,
  /** Who agreed, each with the SHA-256 of the JWS of the receipt, in the order of the receipts. */
  ballots: z.array(z.strictObject({ user_id: id, receipt: sha256Hex })),
  /** Who agreed for which line. */
  assignment: z.array(z.array(id)),
  /** Who was left out of the lines of groups and rules, and why. */
  excluded: z.array(z.strictObject({ user_id: id, reason: someText })),
})

export type CompletionClaims = z.infer<typeof completionShape>
export type Completion = Jws<CompletionClaims>

/** The `attestation` of a request of several people that was approved. */
export type ReceiptSet = { format: 'set'; receipts: Receipt[]; completion: Completion }

export type CompletionParts = {
  /** The receipt of everybody who agreed; of one request. */
  receipts: readonly [Receipt, ...Receipt[]]
  completedAt: Date
  excluded: CompletionClaims['excluded']
  /** Who agreed for which line, if the service knows more than the receipts say. */
  assignment?: CompletionClaims['assignment'] | undefined
}

/** Signs that these receipts are all of an approval. Throws if those who agreed do not satisfy every line. */
export const createSet = async (
  { receipts, completedAt, excluded, assignment: known }: CompletionParts,
  sign: SignClaims,
): Promise<ReceiptSet> => {
  const answers = receipts.map(({ claims }) => claims)
  const { iss, jti, organization, subject, lines, rules } = receipts[0].claims
  const assignment = assign(lines, answers.map(yesOf))
  if (!assignment) throw new TypeError('Not an approval: the people who agreed do not satisfy every line')
  const { type, digest } = subject
  const claims: CompletionClaims = {
    iss,
    // The clock of another node can be ahead.
    iat: Math.max(Math.floor(completedAt.getTime() / 1000), ...answers.map(({ iat }) => iat)),
    jti,
    organization,
    subject: { type, digest },
    lines,
    rules,
    ballots: receipts.map(({ jws, claims }) => ({ user_id: claims.approver.user_id, receipt: sha256(jws) })),
    assignment: known ?? assignment,
    excluded,
  }
  const completion = await signJws(completionShape, claims, completionType, sign)
  return { format: 'set', receipts: [...receipts], completion }
}
