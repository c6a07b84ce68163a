import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/approval-gateway.ts'
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
import type { Conversation, ToolContext } from './tool-context.ts'

const tellEveryMs = 10_000

// A decision of the last moment may be on its way when the time is over.
const graceSeconds = 2

// Of a request that outlives the call which made it.
const openSeconds = 300

/** The request as it goes to a person: what the call leaves out is the default. Fails when nobody is named. */
const askOf = ({ defaults }: ToolContext, input: AskInput, client: string | undefined): Ask => {
  const approver_mobile = input.approver_mobile ?? defaults.approver_mobile
  if (approver_mobile === undefined)
    throw invalid(
      'approver_mobile',
      'is required: no default approver is configured',
      'ask the user for the mobile number of the approver, and pass it in E.164, such as +12025550101',
    )
  const factors = input.factors ?? defaults.factors
  return {
    action: input.action,
    subject: input.subject,
    reason: input.reason,
    approver_mobile,
    factors: factors && [...new Set(factors)],
    requester: defaults.requester ?? client,
  }
}

const further = ({ gateway }: ToolContext) => ({
  ...(gateway.boundToAction ? {} : { bound_to_action: false as const }),
  ...(gateway.notice === undefined ? {} : { notice: gateway.notice }),
})

/** The receipt without its decoded copy: the JWS holds the claims, and agents pay by the word. */
const compact = (receipt: Record<string, unknown>): Record<string, unknown> =>
  typeof receipt.jws === 'string'
    ? Object.fromEntries(Object.entries(receipt).filter(([name]) => name !== 'claims'))
    : receipt

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
    record.detail && `Reason: ${record.detail}.`,
  ]
    .filter(Boolean)
    .join(' '),
  ...further(toolContext),
})

const numberText = ({ number }: ApprovalRecord): string | undefined =>
  number === null ? undefined : `Tell the user: the number to type on the phone is ${number}.`

const waitingFor = (record: ApprovalRecord, passed: number, seconds: number): string =>
  [
    `Waiting for ${record.approver_mobile} to decide, ${Math.max(0, seconds - passed)} s left.`,
    record.number && `The number to type on the phone is ${record.number}.`,
    // Once: a client that loses the answer finds it by check_status.
    passed === 0 && `Request ${record.request_id}.`,
  ]
    .filter(Boolean)
    .join(' ')

/** Waits, and reports how long at once and every ten seconds. */
const waitTelling = async (
  record: ApprovalRecord,
  seconds: number,
  { gateway }: ToolContext,
  { signal, tell }: Conversation,
): Promise<ApprovalRecord> => {
  const started = performance.now()
  const say = (): void => {
    const passed = Math.round((performance.now() - started) / 1000)
    // A client that is gone hears nothing; that is no reason to stop waiting.
    void tell?.(waitingFor(record, passed, seconds), passed, seconds).catch(() => undefined)
  }
  say()
  const telling = tell && setInterval(say, tellEveryMs)
  try {
    return await gateway.wait(record.request_id, seconds + graceSeconds, signal)
  } finally {
    clearInterval(telling)
  }
}

/**
 * How long a call waits, and whether the request stays open after that. A client that has not asked for progress gives
 * up after a minute, whatever we do. Nobody may see a number that stands in the progress alone, so a call that needs one
 * answers while there is time to pass it on.
 */
const waitOf = (timeout_s: number | undefined, number: string | null, told: boolean) => {
  if (number !== null) {
    const half = Math.floor((timeout_s ?? openSeconds) / 2)
    return { seconds: told ? Math.min(waitSeconds.quiet, half) : 0, stays: true }
  }
  if (timeout_s !== undefined) return { seconds: timeout_s, stays: false }
  return { seconds: told ? waitSeconds.told : waitSeconds.quiet, stays: true }
}

export const requestApproval = async (
  input: AskInput,
  toolContext: ToolContext,
  conversation: Conversation,
): Promise<ApprovalOutput> => {
  const { timeout_s } = input
  const { signal, whyEnded, client, tell } = conversation
  const ask = { ...askOf(toolContext, input, client), lifetime_s: timeout_s ?? openSeconds }
  const share = await toolContext.shared.ask(toolContext.caller, ask, toolContext.gateway)
  const { number } = share.record
  const { seconds, stays } = waitOf(timeout_s, number, tell !== undefined)
  let ended = share.record
  try {
    if (seconds > 0 && !signal.aborted && ended.status === 'pending')
      ended = await waitTelling(ended, seconds, toolContext, conversation)
  } catch (error) {
    // Nobody waits any more, so the prompt must not stay.
    const last = await share.withdraw('the wait for it failed').catch(() => undefined)
    // A decision that came first counts.
    if (last?.status === 'approved' || last?.status === 'denied') return outcome(last, toolContext)
    throw error
  }
  if (ended.status !== 'pending') share.leave()
  // The answer of a call that another one has joined says "pending" with the id, so the request must stay.
  else if ((stays || ended.number !== number || share.isJoined()) && !signal.aborted) share.keep()
  else ended = await share.withdraw(signal.aborted ? whyEnded() : 'nobody decided in time')
  return outcome(ended, toolContext)
}

export const requestApprovalAsync = async (
  input: AskInput,
  toolContext: ToolContext,
  { client }: Conversation,
): Promise<PendingOutput> => {
  const { record, keep } = await toolContext.shared.ask(
    toolContext.caller,
    askOf(toolContext, input, client),
    toolContext.gateway,
  )
  keep()
  return {
    status: 'pending',
    request_id: record.request_id,
    approver_mobile: record.approver_mobile,
    expires_at: record.expires_at,
    ...(record.number !== null && { number: record.number }),
    detail: [meanings.pending, numberText(record)].filter(Boolean).join(' '),
    ...further(toolContext),
  }
}

const isUnknown = (error: unknown): boolean =>
  (error instanceof Refusal && error.status === 404) ||
  (error instanceof SvcError && error.exit === 'notFound')

const unknown = (): Refusal =>
  new Refusal(404, 'not_found', 'unknown request_id', {
    hint: 'use the request_id of an earlier answer, with the same credentials; for a new request, call request_approval',
  })

export const checkStatus = async (
  { request_id }: { request_id: string },
  toolContext: ToolContext,
): Promise<StatusOutput> => {
  try {
    return outcome(await toolContext.gateway.status(request_id), toolContext)
  } catch (error) {
    // Another's request and none at all look the same.
    if (isUnknown(error)) throw unknown()
    throw error
  }
}
