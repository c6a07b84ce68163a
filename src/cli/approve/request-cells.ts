import type { ApprovalLine } from '../../contract/approval-line.ts'
import { isRefused, isWithdrawn, refusedMark, withdrawnMark } from '../../contract/approval-state.ts'
import { askedText } from '../../contract/line-progress.ts'
import { isRecord } from '../../core/is-record.ts'
import type { Shape } from '../terminal/payload.ts'

// A request in the cells of a table.

/** What a request asks for, as the approver page shows it; `action` is only what the requester calls it. */
export const headlineOf = ({ subject, action }: Record<string, unknown>): string =>
  String(isRecord(subject) && typeof subject['summary'] === 'string' ? subject['summary'] : action)

/** `Ada Lovelace: approved`, or `Ada Lovelace and 2 of @dba: Grace Hopper approved`: one yes counts for one line. */
const answersText = (lines: readonly ApprovalLine[], refused: boolean): string => {
  const people = [...new Map(lines.flatMap((line) => line.people).map((one) => [one.user_id, one])).values()]
  const isOne = people.length === 1 && lines.every(({ group }) => group === null)
  const answered = people.filter(({ answer }) => answer !== 'pending')
  const said = (answer: string): string => (refused && answer === 'denied' ? refusedMark : answer)
  const answers = answered
    .map(({ name, answer }) => (isOne ? said(answer) : `${name} ${said(answer)}`))
    .join(', ')
  return `${askedText(lines)}: ${answers || 'no answer'}`
}

const linesText = (lines: unknown, request: Record<string, unknown>): string =>
  Array.isArray(lines)
    ? `${request['grant_use'] === undefined ? '' : 'earlier: '}${answersText(lines as ApprovalLine[], isRefused(request))}`
    : ''

/** A request that its requester withdrew has the status of one whose time ran out. */
export const statusText = (request: Record<string, unknown>): string =>
  isWithdrawn(request) ? withdrawnMark : String(request['status'])

/** Of one request: who answered, and how it ended. */
export const answerTexts: Shape['texts'] = {
  lines: linesText,
  status: (_, request) => statusText(request),
}

/** In a list: only a pending request can expire, and an emergency has one cell. */
export const listTexts: Shape['texts'] = {
  ...answerTexts,
  // Its status says that nobody has answered yet.
  lines: (lines, request) => linesText(lines, request).replace(': no answer', ''),
  action: (_, request) => headlineOf(request),
  expires_at: (time, { status }) => (status === 'pending' ? String(time) : ''),
  break_glass: (glass, { status }) => {
    if (!isRecord(glass)) return ''
    const { verdict } = (glass.review ?? {}) as { verdict?: unknown }
    if (verdict !== undefined) return `reviewed: ${String(verdict)}`
    if (status === 'approved') return 'not reviewed'
    return status === 'pending' ? 'asked' : 'not approved'
  },
}
