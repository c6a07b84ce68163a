import type { Backend } from '../../asking/backend.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { foldedInRequest } from '../../contract/approval-state.ts'
import { isRecord } from '../../core/is-record.ts'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { wantsColour } from '../terminal/output.ts'
import { cellText } from '../terminal/payload.ts'
import { answerTexts } from './request-cells.ts'

type Fields = Record<string, unknown>

/** The subject, if it says more than the action, which is only the requester's claim. Two of its fields can have one label. */
const subjectOf = ({ subject, action }: Fields): string[][] | undefined => {
  if (!isRecord(subject) || !Array.isArray(subject.fields)) return undefined
  if (subject.fields.length === 0 && subject.summary === action) return undefined
  const lines = subject.fields
    .filter(isRecord)
    .map(({ label, value, before }) => [
      cellText(label),
      before === undefined ? cellText(value) : `${cellText(before)} -> ${cellText(value)}`,
    ])
  return [['Headline', cellText(subject.summary)], ...lines]
}

/** The results of the rules, for a request that they refused. */
const rulingOf = ({ status, ruling, attestation }: Fields): Fields[] | undefined =>
  status !== 'denied' || attestation || !Array.isArray(ruling) ? undefined : ruling.filter(isRecord)

/** Prints subject, ruling and an open review below the record of one request, in a table only: other formats have them in it. */
export const showBelow = async (context: Context, record: Fields): Promise<void> => {
  const output = await context.output()
  if (output.format !== 'table' || context.globals.jq !== undefined) return
  const { stdout } = context.io
  const [lines, ruling] = [subjectOf(record), rulingOf(record)]
  if (lines) {
    const { drawTable } = await import('../terminal/table.ts')
    stdout.write(`\n${drawTable({ lines }, { width: Infinity, colour: wantsColour(stdout, context) })}\n`)
  }
  if (ruling) {
    stdout.write('\n')
    await output.report('Ruling', ruling, { columns: ['factor', 'policy', 'result', 'reason'] })
  }
  const { status, break_glass: glass, request_id: id } = record
  if (status === 'approved' && isRecord(glass) && !glass.review)
    output.warn(
      `Break-glass, and not reviewed yet. One of the people whom it skipped does that: svc approve review ${shellQuote(String(id))} --ok, or --dispute --note WHY`,
    )
}

/** Says, in words that nobody confuses, what everybody learns who was told of the emergency. */
export const sayReview = async (context: Context, { break_glass: glass }: Fields): Promise<void> => {
  const { verdict } = ((isRecord(glass) && glass.review) || {}) as { verdict?: unknown }
  const output = await context.output()
  if (verdict === 'ok') output.note('You said that it was right. Everybody who was told of it learns that.')
  if (verdict === 'disputed')
    output.warn('DISPUTED: everybody who was told of it learns that, and why. What was done stays done.')
}

/** The decision on stdout. */
export const showDecision = async (context: Context, data: unknown): Promise<void> => {
  const output = await context.output()
  await output.report('Decision', data, {
    columns: ['request_id', 'status', 'action', 'lines', 'decided_at'],
    // A tool server returns no lines.
    folded: foldedInRequest.filter((name) => name !== 'approver_mobile' || (isRecord(data) && data.lines)),
    texts: answerTexts,
    masked: new Set(['approver_mobile']),
  })
  if (isRecord(data)) await showBelow(context, data)
}

/** The error of an interrupted wait: the request is still pending, and the hint says how to resume or withdraw it. */
export const interruptedWait = (id: string, { tools, flags }: Pick<Backend, 'tools' | 'flags'>): SvcError => {
  const wait = `svc approve wait ${shellQuote(id)}${flags}`
  return new SvcError('interrupted', 'interrupted', `Interrupted; still pending: ${id}`, {
    hint: tools
      ? `${wait} --mcp continues; a tool server cannot withdraw it`
      : `${wait} continues; svc approve withdraw ${shellQuote(id)}${flags} withdraws it`,
  })
}

/** Warnings about a decision that is not bound to the action. */
export const unboundNote = (
  { status }: ApprovalRecord,
  { notice, boundToAction }: Pick<Backend, 'boundToAction' | 'notice'>,
): string[] => {
  const unbound =
    'The person was asked to authenticate and was not shown the action: nothing proves what was approved.'
  return [...(notice ? [notice] : []), ...(boundToAction || status !== 'approved' ? [] : [unbound])]
}
