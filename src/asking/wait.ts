import { mayComeBack } from '../client/retry.ts'
import type { ApprovalRecord } from '../contract/approval.ts'
import type { ApprovalGateway } from '../contract/approval-gateway.ts'
import { newRequest } from '../contract/new-request.ts'
import { SvcError } from '../core/errors.ts'
import { inWholeSeconds } from '../core/iso-time.ts'
import { shellQuote } from '../core/shell-quote.ts'
import { sleepFor } from '../core/sleep.ts'
import { secondsLeft, type Backend } from './backend.ts'
import { silent, type Progress } from './progress.ts'

/** Shorter than the timeout of a transport, so that a silent service is noticed. */
const longestPoll = 25
/** Seconds after the deadline in which the service may still report the decision. */
const grace = 10
/** An answer that still says pending after less than this did not wait. */
const tooSoonMs = 500
const pauseMs = 1000

export type Waiting = {
  progress?: Progress | undefined
  signal?: AbortSignal | undefined
  /** Seconds after which to return the request as it is then. */
  most?: number | undefined
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
}

const unknownDecision = (id: string, { tools, flags }: Asked, cause: SvcError): SvcError =>
  new SvcError('unreachable', cause.code, `${cause.message}, and the time for the decision has passed`, {
    detail: 'The decision is unknown. This is not an approval.',
    hint: `svc approve status ${shellQuote(id)}${tools ? ' --mcp' : ''}${flags}`,
    cause,
  })

/** The error if the key of the wait ended meanwhile. */
const keyRefused = (error: SvcError, id: string): SvcError =>
  error.with({
    detail:
      `The decision on ${id} is unknown. This is not an approval. ` +
      'If the key was revoked, its pending requests have ended.',
  })

type Asked = Pick<Backend, 'wait' | 'now' | 'tools' | 'flags'>

/**
 * Waits for a decision until the deadline of the request, also through a restart of the service. Returns the request, which
 * can still be pending.
 */
export const waitFor = async (
  backend: Asked,
  first: ApprovalRecord,
  { progress = silent, signal, most = Infinity, sleep = sleepFor }: Waiting,
): Promise<ApprovalRecord> => {
  const { request_id } = first
  const end = backend.now() + most * 1000
  let record = first
  let lost: SvcError | undefined
  let looked = false
  while (record.status === 'pending') {
    const left = Math.min(secondsLeft(record, backend) + grace, (end - backend.now()) / 1000)
    // Poll at least once: either clock may be wrong.
    if (left <= 0 && looked) {
      if (lost && backend.now() < end) throw unknownDecision(request_id, backend, lost)
      return record
    }
    const started = backend.now()
    looked = true
    try {
      const seconds = lost ? 1 : Math.max(1, Math.min(Math.ceil(left), longestPoll))
      record = await backend.wait(request_id, seconds, signal)
      if (lost) progress.reconnected(record)
      else if (record.status === 'pending') progress.waiting(record)
      const early = record.status === 'pending' && !lost && backend.now() - started < tooSoonMs
      lost = undefined
      // Do not poll a service in a tight loop if it does not wait or is about to stop.
      if (early) await sleep(pauseMs, signal)
    } catch (error) {
      if (error instanceof SvcError && error.code === 'unauthenticated') throw keyRefused(error, request_id)
      if (!mayComeBack(error)) throw error
      if (!lost) progress.lost(record, error)
      lost = error
      await sleep(pauseMs, signal)
    }
  }
  return record
}

const over = (code: string, message: string): SvcError =>
  new SvcError('expired', code, message, { hint: 'Request a new approval' })

/** Refuses an approval that was used, or whose time is over: it allows nothing any more. A tool server does not say. */
export const requireUsable = (
  { status, used_at, use_by }: ApprovalRecord,
  { now }: Pick<Backend, 'now'>,
): void => {
  if (status !== 'approved') return
  if (used_at)
    throw over('already_used', `The approval was already used at ${inWholeSeconds(used_at)}; it works once`)
  if (use_by && Date.parse(use_by) <= now())
    throw over('use_by_passed', `The approval had to be used by ${inWholeSeconds(use_by)}`)
}

/**
 * The same gateway, but its `wait` goes on through a restart of the service: for tools at the REST API, which wait once. `request`
 * can add what the tools leave open.
 */
export const throughRestarts = (
  backend: Backend,
  request: ApprovalGateway['request'] = backend.request,
  waiting: Pick<Waiting, 'sleep'> = {},
): ApprovalGateway => ({
  ...backend,
  request,
  wait: async (request_id, seconds, signal) => {
    const unread = newRequest({ action: '' }, { request_id, at: backend.now(), seconds })
    const record = await waitFor(backend, unread, { ...waiting, signal, most: seconds })
    // The last poll may have been lost.
    return record.status === 'pending' ? backend.status(request_id) : record
  },
})
