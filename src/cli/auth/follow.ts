import { fieldsIn } from '../../client/answered.ts'
import type { Client } from '../../client/client.ts'
import { sleepFor } from '../../client/retry.ts'
import { auth } from '../../contract/auth.ts'
import { successTooSoon } from '../../client/verify-calls.ts'
import { SvcError } from '../../core/errors.ts'
import type { Exit } from '../../core/exit-codes.ts'

/** How a verification ended, or that it did not. `data` is what the service told with it. */
export type Outcome = { exit: Exit; message: string; data: Record<string, unknown> }

type Options = {
  client: Client
  /** `svc doctor` has tested that this service reports no success for an open prompt. */
  tested: boolean
  /** What `/validate/global/auth` is asked. */
  input: { mobile: string; request_id?: string; org_id?: number }
  seconds: number
  signal: AbortSignal
  now(): number
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
  /** The connection is lost, and it goes on. */
  lost?(error: SvcError): void
}

const firstPauseMs = 500
const longestPauseMs = 5_000
/** In which the service may still tell how it ended. */
const graceMs = 10_000

const ends = new Set<Exit>(['denied', 'expired'])

/** A service that restarts, a cut cable, a limit: nothing is decided by it. */
const passes = ({ exit, code }: SvcError): boolean =>
  exit === 'pending' || exit === 'unreachable' || /^http_50[234]$/.test(code)

/** Our service names the verification that it answers about, and reports success only for a yes. */
const isAnswerTo = ({ request_id }: Options['input'], data: Outcome['data']): boolean =>
  request_id !== undefined && data.request_id === request_id

/**
 * Asks `/validate/global/auth`, at growing distances, until the person has answered or their time is over: the way of
 * the specification, so that it works with every service of the contract.
 */
export const follow = async (options: Options): Promise<Outcome> => {
  const { client, input, signal, now, sleep = sleepFor, lost } = options
  const until = now() + options.seconds * 1000 + graceMs
  let open = false
  // At once: nobody can have answered yet, and a service that reports success now reports it always.
  for (let pause = 0; ; pause = Math.min(pause * 1.5 || firstPauseMs, longestPauseMs)) {
    await sleep(pause, signal)
    try {
      const answer = await client.call(auth.validateAuth, input, { signal })
      const data = fieldsIn(answer)
      if (!isAnswerTo(input, data) && !(options.tested && open)) throw successTooSoon()
      return { exit: 'done', message: answer.envelope.message, data }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      const { exit, message, data = {} } = error
      if (ends.has(exit)) return { exit, message, data }
      if (!passes(error)) throw error
      if (exit === 'pending') open = true
      else lost?.(error)
      if (now() >= until && exit !== 'pending') throw error
      if (now() >= until) return { exit, message, data }
    }
  }
}
