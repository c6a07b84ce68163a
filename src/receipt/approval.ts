import { type Answers, checkAnswers } from './answers.ts'
import type { ReceiptClaims } from './claims.ts'
import { notesFor } from './signature.ts'

/**
 * The claims of everybody whose answer is in a stored attestation, if the service signed it and each of them signed the
 * decision in it; otherwise undefined. One yes of several that are needed is not an approval. Whether it is the right one is
 * the caller's decision. Never throws, whatever the text.
 */
export const verifyApproval = (attestation: string | null, jwks: unknown): ReceiptClaims[] | undefined => {
  const found: Answers = { receipts: [] }
  let isGenuine = true
  const notes = notesFor(({ name, ok }) => {
    // A clock that was set back does not make a receipt false.
    isGenuine &&= ok || name === 'time' || name === 'completed'
  })
  try {
    return checkAnswers(attestation ?? '', jwks, notes, found) && isGenuine ? found.receipts : undefined
  } catch {
    return undefined
  }
}
