import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/asker.ts'
import {
  meanings,
  waitSeconds,
  type ApprovalOutput,
  type AskInput,
  type PendingOutput,
  type StatusOutput,
} from '../../contract/tools.ts'
import { SvcError } from '../../core/errors.ts'
import { Refusal, invalid } from '../refusal.ts'
import type { Conversation, Desk } from './desk.ts'

const tellEveryMs = 10_000

// A decision of the last moment may be on its way when the time is over.
const graceSeconds = 2

/** The request as it goes to a person: what the call leaves out is the default. Fails when nobody is named. */
const askOf = ({ defaults }: Desk, input: AskInput, client: string | undefined): Ask => {
  const approver_mobile = input.approver_mobile ?? defaults.approver_mobile
  if (approver_mobile === undefined)
    throw invalid(
      'approver_mobile',
      'is required: no default approver is configured',
      'ask the user whose phone to ask, and give it in E.164, such as +12025550101',
    )
  const factors = input.factors ?? defaults.factors
  return {
    action: input.action,
    reason: input.reason,
    approver_mobile,
    factors: factors && [...new Set(factors)],
    requester: defaults.requester ?? client,
    lifetime_s: input.timeout_s,
  }
}

const further = ({ asker }: Desk) => ({
  ...(asker.boundToAction ? {} : { bound_to_action: false as const }),
  ...(asker.notice === undefined ? {} : { notice: asker.notice }),
})

const outcome = (record: ApprovalRecord, desk: Desk): StatusOutput => ({
  status: record.status,
  request_id: record.request_id,
  ...(record.attestation && { attestation: record.attestation }),
  detail: [meanings[record.status], record.detail].filter(Boolean).join(' '),
  ...further(desk),
})

const waitingFor = (record: ApprovalRecord, left: number): string =>
  [
    `Waiting for ${record.approver_mobile} to decide, ${left} s left.`,
    record.number && `The number to type on the phone is ${record.number}.`,
  ]
    .filter(Boolean)
    .join(' ')

/** Waits while it tells how long, at once and every ten seconds. */
const waitTelling = async (
  record: ApprovalRecord,
  seconds: number,
  { asker }: Desk,
  { signal, tell }: Conversation,
): Promise<ApprovalRecord> => {
  const started = performance.now()
  const say = (): void => {
    const passed = Math.round((performance.now() - started) / 1000)
    // Whoever hung up hears nothing; that is no reason to stop waiting.
    void tell?.(waitingFor(record, Math.max(0, seconds - passed)), passed, seconds).catch(() => undefined)
  }
  say()
  const telling = tell && setInterval(say, tellEveryMs)
  try {
    return await asker.wait(record.request_id, seconds + graceSeconds, signal)
  } finally {
    clearInterval(telling)
  }
}

/** Withdraws what is still pending. What it says afterwards counts: a decision may have come first. */
const withdraw = async (request_id: string, { asker }: Desk): Promise<ApprovalRecord> => {
  await asker.cancel(request_id).catch(() => undefined)
  return asker.status(request_id)
}

const unseenNumber = (): Refusal =>
  new Refusal(409, 'number_required', 'The approver must type a number that only the requester sees', {
    hint: 'call request_approval_async, whose answer holds the number, and tell it to the user; this request was withdrawn',
  })

export const requestApproval = async (
  input: AskInput,
  desk: Desk,
  conversation: Conversation,
): Promise<ApprovalOutput> => {
  const seconds = input.timeout_s ?? waitSeconds.default
  const ask = { ...askOf(desk, input, conversation.client), lifetime_s: seconds }
  const asked = await desk.asker.request(ask)
  let ended = asked
  try {
    if (asked.number !== null && !conversation.tell) throw unseenNumber()
    if (!conversation.signal.aborted && asked.status === 'pending')
      ended = await waitTelling(asked, seconds, desk, conversation)
  } catch (error) {
    // No prompt stays live that nobody waits for.
    const last = await withdraw(asked.request_id, desk).catch(() => undefined)
    if (!last || last.status === 'pending' || error instanceof Refusal) throw error
    ended = last
  }
  if (ended.status === 'pending') ended = await withdraw(asked.request_id, desk)
  return outcome(ended, desk)
}

export const requestApprovalAsync = async (
  input: AskInput,
  desk: Desk,
  { client }: Conversation,
): Promise<PendingOutput> => {
  const record = await desk.asker.request(askOf(desk, input, client))
  return {
    status: 'pending',
    request_id: record.request_id,
    approver_mobile: record.approver_mobile,
    expires_at: record.expires_at,
    ...(record.number !== null && { number: record.number }),
    detail: meanings.pending,
    ...further(desk),
  }
}

const isUnknown = (error: unknown): boolean =>
  (error instanceof Refusal && error.status === 404) ||
  (error instanceof SvcError && error.exit === 'notFound')

export const checkStatus = async (
  { request_id }: { request_id: string },
  desk: Desk,
): Promise<StatusOutput> => {
  try {
    return outcome(await desk.asker.status(request_id), desk)
  } catch (error) {
    // Another's request and none at all look the same.
    if (isUnknown(error)) throw new Refusal(404, 'not_found', 'unknown request_id')
    throw error
  }
}
