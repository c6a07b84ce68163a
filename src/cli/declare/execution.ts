import type { Client } from '../../client/client.ts'
import { SvcError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Step } from './plan.ts'
import { runStep } from './requests.ts'

export type Outcome = { step: Step; error?: SvcError; code?: string }
export type Result = {
  done: Outcome[]
  failed: (Outcome & { error: SvcError })[]
  /** Neither done nor failed: it was stopped before. */
  left: Step[]
  by_hand: Step[]
}

type Options = {
  client: Client
  org_id: number | undefined
  signal: AbortSignal
  /** Told after each step. */
  told(outcome: Outcome): void
}

/** What the next step would only meet again. */
const isFatal = ({ exit }: SvcError): boolean =>
  exit === 'unreachable' || exit === 'forbidden' || exit === 'interrupted'

/** Steps that do not depend on each other stand together; each phase waits for the one before. */
const phasesOf = (steps: readonly Step[]): Step[][] => {
  const phases: Step[][] = []
  for (const step of steps) {
    const last = phases.at(-1)
    const [first] = last ?? []
    const together =
      first?.section === step.section && (first.action === 'delete') === (step.action === 'delete')
    if (together) last!.push(step)
    else phases.push([step])
  }
  return phases
}

/**
 * Carries out the steps of a plan in their order, 16 of a phase at the same time. What fails is kept, and the rest of
 * its phase goes on; nothing is deleted once something failed. Stops between steps when `signal` is aborted.
 */
export const runSteps = async (steps: readonly Step[], options: Options): Promise<Result> => {
  const { client, signal, told } = options
  let { org_id } = options
  const result: Result = { done: [], failed: [], left: [], by_hand: [] }
  const stop = new AbortController()
  const stopped = AbortSignal.any([signal, stop.signal])

  const doOne = async (step: Step): Promise<void> => {
    try {
      const made = await runStep(step, client, org_id)
      org_id = made.org_id ?? org_id
      const outcome = { step, ...(made.code !== undefined && { code: made.code }) }
      result.done.push(outcome)
      told(outcome)
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      result.failed.push({ step, error })
      told({ step, error })
      if (isFatal(error) || step.section === 'organization') stop.abort()
    }
  }

  for (const phase of phasesOf(steps)) {
    if (phase[0]!.action === 'delete' && result.failed.length > 0) stop.abort()
    await inParallel(
      phase.filter(({ action }) => action !== 'by_hand'),
      stopped,
      doOne,
    )
  }
  const tried = new Set([...result.done, ...result.failed].map(({ step }) => step))
  for (const step of steps)
    if (step.action === 'by_hand') result.by_hand.push(step)
    else if (!tried.has(step)) result.left.push(step)
  return result
}
