import { sha256 } from '../core/ids.ts'
import { claimsShape, receiptType, type ReceiptClaims } from './claims.ts'
import type { ApprovalContext } from './context.ts'
import { readEnvelope, readSigned, type Signed } from './envelope.ts'
import { checkUse, useShape, type UseClaims, useType } from './grant-use.ts'
import { checkAlone, checkHuman, checkSubject } from './human.ts'
import { type CompletionClaims, completionShape, completionType } from './set.ts'
import { checkTogether } from './set-checks.ts'
import type { Note, Notes } from './signature.ts'
import type { Subject } from './subject.ts'

/** What was signed: the receipts of everybody who answered, and of several people what completed the request. */
export type Answers = {
  receipts: ReceiptClaims[]
  completion?: CompletionClaims
  /** Why somebody else was asked than the people whom the rules name, and whom nobody asked. */
  breakGlass?: NonNullable<ApprovalContext['break_glass']>
  /** A use of a grant: what was asked then, which no person saw. The receipt is of the request with which it was granted. */
  use?: UseClaims
  /** What was asked. Missing if it is not a valid subject. */
  subject?: Subject | undefined
}

/** The request that was asked: that of the receipts, or the one under a grant. */
export const askedOf = ({ receipts, use }: Answers): ReceiptClaims | UseClaims => use ?? receipts[0]!

const receiptKind = { type: receiptType, shape: claimsShape }
const useKind = { type: useType, shape: useShape }
const completionKind = { type: completionType, shape: completionShape }

/**
 * Checks all of an attestation that needs no expectation, with nothing but the key set. `found` gets what the service signed,
 * even if the rest is not valid. False if it stopped early.
 */
export const checkAnswers = (attestation: unknown, jwks: unknown, notes: Notes, found: Answers): boolean => {
  const person = (one: Signed, note: Note) => {
    const claims = readSigned(one, jwks, receiptKind, note)
    if (claims) found.receipts.push(claims)
    const signed = claims && checkHuman(claims, note)
    if (signed?.context.break_glass) found.breakGlass = signed.context.break_glass
    found.subject ??= signed?.subject
    return signed
  }
  const note = notes()
  const envelope = readEnvelope(attestation, note)
  if (!envelope) return false
  if (envelope.format === 'grant') {
    const use = readSigned(envelope.use, jwks, useKind, notes('use'))
    if (!use) return false
    found.use = use
    const signed = person(envelope.receipt, notes('granting'))
    const [claims] = found.receipts
    if (!signed || !claims) return false
    checkAlone(claims, notes('granting'))
    found.subject = checkSubject(use, note)
    checkUse(use, { ...signed, jws: envelope.receipt.jws, claims }, found.subject, note)
    return true
  }
  if (envelope.format !== 'set') {
    if (!person(envelope, note)) return false
    checkAlone(found.receipts[0]!, note)
    return true
  }
  const { receipts, completion } = envelope
  const completed = readSigned(completion, jwks, completionKind, notes('completion'))
  if (!completed) return false
  found.completion = completed
  const named = completed.ballots.map(({ receipt }) => receipt).join()
  const isNamed = named === receipts.map(({ jws }) => sha256(jws)).join()
  if (!note('receipts', isNamed, `${isNamed ? '' : 'not '}those that the completion names`)) return false
  const contexts: ApprovalContext[] = []
  for (const [at, one] of receipts.entries()) {
    const signed = person(one, notes(`receipt ${at + 1}`))
    if (!signed) return false
    contexts.push(signed.context)
  }
  checkTogether(found.receipts, contexts, completed, note)
  return true
}
