import type { ApprovalLine } from '../../contract/approval-line.ts'
import { askedText } from '../../contract/line-progress.ts'
import { isRecord } from '../../core/is-record.ts'
import { listTexts as headlines } from './headline.ts'

// Who answered, and whether an emergency was reviewed, in one cell of a table.

/** `Ada Lovelace: approved`, or `2 of @dba: Grace Hopper approved, Eve Moore denied`. */
const answersText = (line: ApprovalLine): string => {
  const { group, people } = line
  const isOne = group === null && people.length === 1
  const answered = people.filter(({ answer }) => answer !== 'pending')
  const answers = answered.map(({ name, answer }) => (isOne ? answer : `${name} ${answer}`)).join(', ')
  return `${askedText([line])}: ${answers || 'no answer'}`
}

/** Of the fields of a request, in its table. */
export const answerTexts = {
  lines: (lines: unknown): string =>
    Array.isArray(lines) ? (lines as ApprovalLine[]).map(answersText).join('; ') : '',
}

/** In the list, where an emergency has one cell. */
export const listTexts = {
  ...headlines,
  ...answerTexts,
  break_glass: (glass: unknown): string => {
    if (!isRecord(glass)) return ''
    const { verdict } = (glass.review ?? {}) as { verdict?: unknown }
    return verdict === undefined ? 'not reviewed' : `reviewed: ${String(verdict)}`
  },
}
