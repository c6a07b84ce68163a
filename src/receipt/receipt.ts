import { sha256 } from '../core/ids.ts'
import {
  amrOf,
  approvalProblem,
  claimsShape,
  receiptType,
  type DeviceClaim,
  type FactorResult,
  type Receipt,
} from './claims.ts'
import { challengeOf, readContext } from './context.ts'
import { readEvidence, type Evidence } from './evidence.ts'
import { toBase64url } from '../core/exact-json.ts'
import { type SignClaims, signJws } from './jws.ts'
import { digestOf, type Subject } from './subject.ts'

export type { FactorResult, Receipt, ReceiptClaims } from './claims.ts'

/** What goes into a receipt. */
export type ReceiptParts = {
  issuer: string
  /** By the clock of the store, within the lifetime of the request. */
  decidedAt: Date
  /** The exact bytes whose hash was the challenge. */
  context: Uint8Array
  /** Already verified by `verifyAssertion`. */
  evidence: Evidence
  factors: FactorResult[]
  number_matched: boolean | null
  dev: boolean
  subject: Subject
  device: DeviceClaim
  influences: boolean
}

/**
 * Only a decision that the human signed has a receipt; an expiry, a wrong number and an approval that a factor overrode have
 * none. Throws in those cases, if the evidence does not match the context, and if a part does not fit the format.
 */
export const createReceipt = async (parts: ReceiptParts, sign: SignClaims): Promise<Receipt> => {
  const context = readContext(parts.context)
  const read = readEvidence(parts.evidence)
  if (read.client.challenge !== challengeOf(parts.context))
    throw new TypeError('The evidence does not match this context')
  const { type, data } = parts.subject
  const digest = digestOf(data)
  if (context.subject.type !== type || context.subject.digest !== digest)
    throw new TypeError('The subject does not match this context')
  const problem = context.decision === 'approve' ? approvalProblem(context.factors, parts) : undefined
  if (problem) throw new TypeError(`Not an approval: ${problem}`)
  const claims = {
    iss: parts.issuer,
    sub: context.approver.mobile,
    approver: context.approver,
    aud: context.requester,
    iat: Math.floor(parts.decidedAt.getTime() / 1000),
    jti: context.request_id,
    status: context.decision === 'approve' ? 'approved' : 'denied',
    action: context.action,
    action_sha256: sha256(context.action),
    reason: context.reason,
    organization: context.organization,
    key: context.key,
    lines: context.lines,
    rules: context.rules,
    subject: { type, data, digest },
    device: parts.device,
    influences: parts.influences,
    factors: parts.factors,
    amr: amrOf(read, parts.dev),
    number_matched: parts.number_matched,
    context: toBase64url(parts.context),
    evidence: parts.evidence,
    ...(context.note === undefined ? {} : { note: context.note }),
    ...(parts.dev ? { dev: true } : {}),
  }
  return signJws(claimsShape, claims, receiptType, sign)
}
