import { sleepFor } from './retry.ts'
import { decisionOf, isPassing, promptMs, type Phone, type VerifyCalls } from './verify-calls.ts'

const pollMs = 5_000
/** Answers to an open question that must have been no success. */
const leastAnswers = 3

type Options = {
  calls: VerifyCalls
  /** E.164, and in its parts. */
  mobile: string
  phone: Phone
  signal: AbortSignal
  now(): Date
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
}

export type Tested = { proved: true; answers: number } | { proved: false; why: string }

const failed = (why: string): Tested => ({ proved: false, why })

/**
 * Asks a person who leaves the prompt unanswered, and looks until it expires. Only a service that never reports a success
 * on the way can be believed when it reports one: the specification gives every 2xx the status `success`.
 */
export const testVerify = async (options: Options): Promise<Tested> => {
  const { calls, mobile, phone, signal, now, sleep = sleepFor } = options
  const named = await calls.ring(phone, signal)
  const end = now().getTime() + promptMs
  let answers = 0
  for (;;) {
    const over = now().getTime() >= end
    const said = await calls.look(mobile, named, signal)
    const decision = decisionOf(said)
    if (decision === 'approved') return failed(`it reported success though nobody had answered`)
    if (decision === 'denied') return failed('it reported an unanswered prompt as denied')
    if (decision === undefined) return failed(`svc cannot read its answer to an open prompt (${said.http})`)
    if (!isPassing(said)) answers += 1
    if (over || decision === 'expired') break
    await sleep(pollMs, signal)
  }
  // The last word on a prompt that has expired.
  await sleep(pollMs, signal)
  if (decisionOf(await calls.look(mobile, named, signal)) === 'approved')
    return failed('it reported success after the prompt had expired')
  if (answers < leastAnswers) return failed(`it gave ${answers} answers, and ${leastAnswers} are needed`)
  return { proved: true, answers }
}
