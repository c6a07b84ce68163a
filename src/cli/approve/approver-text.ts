import type { ApprovalRecord } from '../../contract/approval.ts'
import { askedText } from '../../contract/line-progress.ts'
import { safeLine } from '../../core/safe-text.ts'
import { maskPhone } from '../terminal/mask.ts'

type Asked = Pick<ApprovalRecord, 'approver_mobile' | 'lines'>

/** Who is asked. A tool server names nobody, and not even the number for a request from another machine. `whole`: with all of the number. */
export const approverText = ({ approver_mobile, lines }: Asked, whole = false): string => {
  if (lines && lines.length > 0) return safeLine(askedText(lines))
  if (approver_mobile === '') return 'an unnamed approver'
  return safeLine(whole ? approver_mobile : maskPhone(approver_mobile))
}

/** Those whose answer ended the request, or who was asked if nobody's did. */
export const answererText = (record: ApprovalRecord, whole = false): string => {
  const people = record.lines?.flatMap((line) => line.people) ?? []
  const names = people.filter(({ answer }) => answer === record.status).map(({ name }) => name)
  return names.length > 0 ? safeLine([...new Set(names)].join(' and ')) : approverText(record, whole)
}
