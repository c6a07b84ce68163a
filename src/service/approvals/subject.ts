import { invalid, Refusal } from '../../core/refusal.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import { readSubject, type Subject, SubjectError, textSubject } from '../../receipt/subject.ts'

type RequestedAction = { action?: string; subject?: { type: string; data: object; digest?: string } }

const checked = (given: NonNullable<RequestedAction['subject']>): Subject => {
  try {
    return readSubject(given)
  } catch (error) {
    if (!(error instanceof SubjectError)) throw error
    const { path, message, isTooLarge } = error
    const field = `subject.${path}`
    if (!isTooLarge) throw invalid(field, message)
    throw new Refusal(413, 'subject_too_large', `${field} ${message}`, { issues: [{ field, message }] })
  }
}

/** What exactly is asked, and the words of the requester for it. Without a subject, the action itself is all there is. */
export const askedSubject = ({
  action,
  subject: given,
}: RequestedAction): { subject: Subject; action: string } => {
  if (action === undefined && given === undefined) throw invalid('action', 'is required without a subject')
  const subject = checked(given ?? textSubject(action!))
  return { subject, action: action ?? summaryOf(subject) }
}
