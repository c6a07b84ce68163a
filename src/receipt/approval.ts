import { attempted } from '../core/attempted.ts'
import { type Answers, checkAnswers } from './answers.ts'
import { notesFor } from './signature.ts'

/**
 * What is in a stored attestation, if the service signed it and each person whose answer it has signed the decision in it;
 * otherwise undefined. One yes of several that are needed is not an approval. Whether it is the right one is
 * the caller's decision. Never throws, whatever the text.
 */
export const verifyApproval = (attestation: string | null, jwks: unknown): Answers | undefined => {
  const found: Answers = { receipts: [] }
  let isGenuine = true
  const notes = notesFor(({ name, ok }) => {
    // A clock that was set back does not make a receipt false.
    isGenuine &&= ok || name === 'time' || name === 'completed'
  })
  const isRead = attempted(() => checkAnswers(attestation ?? '', jwks, notes, found))
  return isRead && isGenuine ? found : undefined
}
