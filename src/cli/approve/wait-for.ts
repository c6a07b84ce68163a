import { mayComeBack, sleepFor } from '../../client/retry.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Globals } from '../terminal/run.ts'
import { sameService } from '../program/command-line.ts'
import type { Backend } from './backend.ts'
import type { Progress } from './progress.ts'

/** Less than a transport waits for an answer, so that a silent one is noticed. */
const longestPoll = 25
/** Seconds beyond the deadline in which the service may still tell how it ended. */
const grace = 10

type Options = {
  progress: Progress
  signal: AbortSignal
  /** As typed, for what is to be typed next. */
  globals?: Globals
  /** Answer it as it is after so many seconds. */
  most?: number
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
}

const nobodyTold = (
  { request_id }: ApprovalRecord,
  { tools }: Pick<Backend, 'tools'>,
  cause: SvcError,
  globals: Globals,
): SvcError =>
  new SvcError('unreachable', cause.code, `${cause.message}, and the time for a decision is over`, {
    detail: 'The decision is unknown. This is not an approval.',
    hint: `svc approve status ${shellQuote(request_id)}${tools ? ' --mcp' : ''}${sameService(globals)}`,
    cause,
  })

/** The key of the wait has ended meanwhile: says what is known of the request. */
const keyRefused = (error: SvcError, { request_id }: ApprovalRecord): SvcError =>
  error.with({
    detail:
      `The decision on ${request_id} is unknown. This is not an approval. ` +
      'When a key is revoked or expires, the pending requests that it made end.',
  })

/**
 * Waits for a decision until the deadline of the request, also through a restart of the service. Answers the request
 * as it is then; it can still be pending.
 */
export const waitFor = async (
  backend: Backend,
  first: ApprovalRecord,
  { progress, signal, globals = {}, most = Infinity, sleep = sleepFor }: Options,
): Promise<ApprovalRecord> => {
  const end = backend.now() + most * 1000
  let record = first
  let lost: SvcError | undefined
  let looked = false
  while (record.status === 'pending') {
    const left = Math.min(backend.secondsLeft(record) + grace, (end - backend.now()) / 1000)
    // Once at least: a clock may be off on either side.
    if (left <= 0 && looked) {
      if (lost && backend.now() < end) throw nobodyTold(record, backend, lost, globals)
      return record
    }
    const started = backend.now()
    looked = true
    try {
      const seconds = lost ? 1 : Math.max(1, Math.min(Math.ceil(left), longestPoll))
      record = await backend.poll(record.request_id, seconds, signal)
      if (lost) progress.reconnected(record)
      else if (record.status === 'pending') progress.waiting(record)
      const early = record.status === 'pending' && !lost && backend.now() - started < 500
      lost = undefined
      // A service that does not wait, or lets go because it stops, is not asked in a tight loop.
      if (early) await sleep(1000, signal)
    } catch (error) {
      if (error instanceof SvcError && error.code === 'unauthenticated') throw keyRefused(error, record)
      if (!mayComeBack(error)) throw error
      if (!lost) progress.lost(record, error)
      lost = error
      await sleep(1000, signal)
    }
  }
  return record
}
