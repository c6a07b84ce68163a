import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/approval-gateway.ts'
import { progressOf } from '../../contract/line-progress.ts'
import {
  meanings,
  unboundMeaning,
  waitSeconds,
  type ApprovalOutput,
  type AskInput,
  type PendingOutput,
  type StatusOutput,
} from '../../contract/tools.ts'
import { SvcError } from '../../core/errors.ts'
import { Refusal, invalid } from '../../core/refusal.ts'
import type { Conversation, Run, ToolContext } from './tool-context.ts'

const progressEveryMs = 10_000

// A decision of the last moment may still arrive after the time is over.
const graceSeconds = 2

// The lifetime of a request that continues after its call.
const openSeconds = 300

/** The request, with defaults for the fields that the call leaves out. Without an approver, only rules say who is asked. */
const createAsk = ({ defaults }: ToolContext, input: AskInput, client: string | undefined): Ask => {
  const { approver_mobile } = input
  if (approver_mobile !== undefined && input.approvers)
    throw invalid('approvers', 'cannot be combined with approver_mobile', 'leave one of them out')
  const approvers =
    approver_mobile === undefined ? (input.approvers ?? defaults.approvers) : [approver_mobile]
  return {
    action: input.action,
    subject: input.subject,
    reason: input.reason,
    approvers,
    factors: input.factors && [...new Set(input.factors)],
    default_factors: input.factors ? undefined : defaults.factors,
    requester: defaults.requester ?? client,
  }
}

const gatewayNotes = ({ gateway }: ToolContext) => ({
  ...(gateway.boundToAction ? {} : { bound_to_action: false as const }),
  ...(gateway.notice === undefined ? {} : { notice: gateway.notice }),
})

/** The receipts without their decoded copies. Each JWS contains the claims, and agents pay for each word. */
const compact = (attestation: NonNullable<ApprovalRecord['attestation']>): Record<string, unknown> => {
  if (attestation.format === 'set') {
    const { receipts, completion } = attestation
    return { ...attestation, receipts: receipts.map(compact), completion: compact(completion) }
  }
  if (attestation.format === 'grant') {
    const { use, receipt } = attestation
    return { ...attestation, use: compact(use), receipt: compact(receipt) }
  }
  const { claims: _, ...receipt } = attestation
  return receipt
}

const outcome = (record: ApprovalRecord, toolContext: ToolContext): StatusOutput => ({
  status: record.status,
  request_id: record.request_id,
  ...(record.status === 'pending' && {
    expires_at: record.expires_at,
    ...(record.number !== null && { number: record.number }),
  }),
  ...(record.attestation && { attestation: compact(record.attestation) }),
  detail: [
    record.status === 'approved' && !toolContext.gateway.boundToAction
      ? unboundMeaning
      : meanings[record.status],
    record.status === 'pending' && numberText(record),
    record.detail &&
      (record.note === undefined && record.status !== 'pending'
        ? `Reason: ${record.detail}.`
        : `${record.detail}.`),
  ]
    .filter(Boolean)
    .join(' '),
  ...gatewayNotes(toolContext),
})

const numberText = ({ number }: ApprovalRecord): string | undefined =>
  number === null ? undefined : `Tell the user: the number to type on the phone is ${number}.`

/** The one person, or those of several who have not answered. */
const waitedFor = ({ lines, approver_mobile }: ApprovalRecord): string =>
  progressOf(lines)?.waiting.join(', ') ?? approver_mobile

const waitingFor = (record: ApprovalRecord, passed: number, seconds: number): string =>
  [
    `Waiting for ${waitedFor(record)} to decide, ${Math.max(0, seconds - passed)} s left.`,
    record.number && `The number to type on the phone is ${record.number}.`,
    // Once: a client that loses the answer finds it by check_status.
    passed === 0 && `Request ${record.request_id}.`,
  ]
    .filter(Boolean)
    .join(' ')

/** Waits, and reports progress immediately and every ten seconds. */
const waitWithProgress = async (
  record: ApprovalRecord,
  seconds: number,
  { gateway }: ToolContext,
  { signal, reportProgress }: Conversation,
): Promise<ApprovalRecord> => {
  const started = performance.now()
  const report = (): void => {
    const passed = Math.round((performance.now() - started) / 1000)
    // A client that has gone gets no progress. The wait continues.
    void reportProgress?.(waitingFor(record, passed, seconds), passed, seconds).catch(() => undefined)
  }
  report()
  const reporting = reportProgress && setInterval(report, progressEveryMs)
  try {
    return await gateway.wait(record.request_id, seconds + graceSeconds, signal)
  } finally {
    clearInterval(reporting)
  }
}

/**
 * How long a call waits, and whether the request stays open after that. A client without progress gives up after a minute.
 * A client may not show a number that is only in the progress, so a call that needs one answers while there is time to pass
 * it on.
 */
const planWait = (timeout_s: number | undefined, number: string | null, hasProgress: boolean) => {
  if (number !== null) {
    const half = Math.floor((timeout_s ?? openSeconds) / 2)
    return { seconds: hasProgress ? Math.min(waitSeconds.withoutProgress, half) : 0, stays: true }
  }
  if (timeout_s !== undefined) return { seconds: timeout_s, stays: false }
  return { seconds: hasProgress ? waitSeconds.withProgress : waitSeconds.withoutProgress, stays: true }
}

const askAndWait: Run<AskInput, ApprovalOutput> = async (input, toolContext, conversation) => {
  const { timeout_s } = input
  const { signal, endReason, client, reportProgress } = conversation
  const ask = { ...createAsk(toolContext, input, client), lifetime_s: timeout_s ?? openSeconds }
  const share = await toolContext.shared.ask(toolContext.caller, ask, toolContext.gateway)
  const { number } = share.record
  const { seconds, stays } = planWait(timeout_s, number, reportProgress !== undefined)
  let ended = share.record
  try {
    if (seconds > 0 && !signal.aborted && ended.status === 'pending')
      ended = await waitWithProgress(ended, seconds, toolContext, conversation)
  } catch (error) {
    // The call no longer waits, so the request must not stay.
    const last = await share.withdraw('the wait for it failed').catch(() => undefined)
    // A decision that was faster counts.
    if (last?.status === 'approved' || last?.status === 'denied') return outcome(last, toolContext)
    throw error
  }
  if (ended.status !== 'pending') share.leave()
  // Another call that has joined this one returns the id as pending, so the request must stay.
  else if ((stays || ended.number !== number || share.isJoined()) && !signal.aborted) share.keep()
  else ended = await share.withdraw(signal.aborted ? endReason() : 'no decision in time')
  return outcome(ended, toolContext)
}

export const requestApproval: Run<AskInput, ApprovalOutput> = async (input, toolContext, conversation) => {
  const { timeout_s } = input
  const { most } = waitSeconds
  if (timeout_s === undefined || timeout_s <= most) return askAndWait(input, toolContext, conversation)
  const output = await askAndWait({ ...input, timeout_s: most }, toolContext, conversation)
  return { ...output, detail: `${output.detail} timeout_s was lowered to ${most}, the maximum.` }
}

export const requestApprovalAsync: Run<AskInput, PendingOutput> = async (input, toolContext, { client }) => {
  const { shared, caller, gateway } = toolContext
  const { record, keep } = await shared.ask(caller, createAsk(toolContext, input, client), gateway)
  keep()
  return {
    status: 'pending',
    request_id: record.request_id,
    approver_mobile: record.approver_mobile,
    expires_at: record.expires_at,
    ...(record.number !== null && { number: record.number }),
    detail: [meanings.pending, numberText(record), record.detail && `${record.detail}.`]
      .filter(Boolean)
      .join(' '),
    ...gatewayNotes(toolContext),
  }
}

const isUnknown = (error: unknown): boolean =>
  (error instanceof Refusal && error.status === 404) ||
  (error instanceof SvcError && error.exit === 'notFound')

export const checkStatus = async (
  { request_id }: { request_id: string },
  toolContext: ToolContext,
): Promise<StatusOutput> => {
  try {
    return outcome(await toolContext.gateway.status(request_id), toolContext)
  } catch (error) {
    // The answer is the same for another caller's request and for an unknown one.
    if (isUnknown(error))
      throw new Refusal(404, 'not_found', 'unknown request_id', {
        hint: 'use the request_id of an earlier answer, with the same credentials; for a new request, call request_approval',
      })
    throw error
  }
}
