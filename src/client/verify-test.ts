import { sleepFor } from '../core/sleep.ts'
import { decisionOf, isTransient, promptMs, type Phone, type VerifyCalls } from './verify-calls.ts'

const pollMs = 5_000
/** Minimum number of answers to an open prompt, none of them a success. */
const minAnswers = 3

type Options = {
  calls: VerifyCalls
  /** The same number in E.164 and in parts. */
  mobile: string
  phone: Phone
  signal: AbortSignal
  now(): Date
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
}

export type Tested = { passed: true; answers: number } | { passed: false; why: string }

const failed = (why: string): Tested => ({ passed: false, why })

/**
 * Sends a prompt that the person leaves unanswered, and polls until it expires. Only a service that never reports success
 * for it can be trusted: in the specification, every 2xx has the status `success`.
 */
export const testVerify = async (options: Options): Promise<Tested> => {
  const { calls, mobile, phone, signal, now, sleep = sleepFor } = options
  const serviceId = await calls.sendPrompt(phone, signal)
  const end = now().getTime() + promptMs
  let answers = 0
  for (;;) {
    const over = now().getTime() >= end
    const answer = await calls.readDecision(mobile, serviceId, signal)
    const decision = decisionOf(answer)
    if (decision === 'approved') return failed('it reported success before anyone answered')
    if (decision === 'denied') return failed('it reported an unanswered prompt as denied')
    if (decision === undefined) return failed(`svc cannot read its answer to an open prompt (${answer.http})`)
    if (!isTransient(answer)) answers += 1
    if (over || decision === 'expired') break
    await sleep(pollMs, signal)
  }
  // The answer after the prompt has expired.
  await sleep(pollMs, signal)
  if (decisionOf(await calls.readDecision(mobile, serviceId, signal)) === 'approved')
    return failed('it reported success after the prompt had expired')
  if (answers < minAnswers) return failed(`it gave ${answers} answers, but ${minAnswers} are required`)
  return { passed: true, answers }
}
