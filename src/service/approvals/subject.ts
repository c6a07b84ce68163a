import type { ApprovalRecord } from '../../contract/approval.ts'
import { fieldsOf, summaryOf } from '../../receipt/subject-text.ts'
import { readSubject, SubjectError, textSubject, type Subject } from '../../receipt/subject.ts'
import { invalid, Refusal } from '../../core/refusal.ts'
import type { ApprovalRow } from './record.ts'

type Asked = { action?: string; subject?: { type: string; data: object; digest?: string } }

const checked = (given: NonNullable<Asked['subject']>): Subject => {
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
export const askedSubject = ({ action, subject: given }: Asked): { subject: Subject; action: string } => {
  if (action === undefined && given === undefined) throw invalid('action', 'is required without a subject')
  const subject = checked(given ?? textSubject(action!))
  return { subject, action: action ?? summaryOf(subject) }
}

/** The subject of a row; undefined for one from before there were subjects. */
export const subjectOfRow = ({ subject_type, subject_data }: ApprovalRow): Subject | undefined =>
  subject_type === null || subject_data === null
    ? undefined
    : ({ type: subject_type, data: JSON.parse(subject_data) as object } as Subject)

/** As it is answered: with what the approver reads. */
export const answeredSubject = (row: ApprovalRow): ApprovalRecord['subject'] => {
  const subject = subjectOfRow(row)
  return subject === undefined
    ? null
    : { ...subject, digest: row.subject_digest!, summary: summaryOf(subject), fields: fieldsOf(subject) }
}
