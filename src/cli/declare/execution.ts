import { rowsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import type { Input } from '../../contract/operation.ts'
import { rule } from '../../contract/rule.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Step } from './plan.ts'
import { type Approvals, type Created, fieldsAfter, runStep } from './requests.ts'
import { isSigned } from './state.ts'

export type Outcome = { step: Step; error?: SvcError; code?: string }
export type Result = {
  done: Outcome[]
  failed: (Outcome & { error: SvcError })[]
  /** Not attempted, because the run stopped before. */
  left: Step[]
  by_hand: Step[]
}

type Options = {
  client: Client
  org_id: number | undefined
  signal: AbortSignal
  approvals?: Approvals
  /** Called after each step. */
  report(outcome: Outcome): void
}

/** Whether the next step would fail in the same way. */
const isFatal = ({ exit }: SvcError): boolean =>
  exit === 'unreachable' || exit === 'forbidden' || exit === 'interrupted'

/** Applies all changes of groups and rules in one request, so that people approve them together. */
const runSignedSteps = async (steps: readonly Step[], client: Client, org_id = 0): Promise<void> => {
  const idOf = async (mobile: string): Promise<string> => {
    const [found] = rowsIn(user.listUsers, await client.call(user.listUsers, { org_id, mobile }))
    if (found?.id === undefined)
      throw new SvcError('failed', 'no_user', `No user of the organization has the number ${mobile}`, {
        hint: 'Add the number to users in the file',
      })
    return String(found.id)
  }
  const groups = []
  for (const step of steps.filter(({ section }) => section === 'groups')) {
    const members: string[] = []
    for (const mobile of (fieldsAfter(step).members ?? []) as string[]) members.push(await idOf(mobile))
    groups.push({ name: step.key, members })
  }
  const changed = steps.filter(({ section }) => section === 'rules')
  const rules = changed.flatMap(({ key, whole }) => (whole ? [{ name: key, ...whole }] : []))
  const removed = changed.filter(({ action }) => action === 'delete').map(({ key }) => key)
  const changes = {
    ...(groups.length > 0 && { groups }),
    ...(rules.length > 0 && { rules }),
    ...(removed.length > 0 && { removed }),
  }
  await client.call(rule.setRules, { org_id, ...changes } as Input<typeof rule.setRules>)
}

/** Groups steps that do not depend on each other. Each group waits for the one before. */
const groupSteps = (steps: readonly Step[]): Step[][] => {
  const groups: Step[][] = []
  for (const step of steps) {
    const last = groups.at(-1)
    const [first] = last ?? []
    const isSameGroup = isSigned(step.section)
      ? first !== undefined && isSigned(first.section)
      : first?.section === step.section && (first.action === 'delete') === (step.action === 'delete')
    if (isSameGroup) last!.push(step)
    else groups.push([step])
  }
  return groups
}

/**
 * Applies the steps of a plan in order, 16 of a group at a time. The rest of a group continues after a failure, but
 * nothing is deleted after one. Stops between steps if `signal` is aborted.
 */
export const runSteps = async (steps: readonly Step[], options: Options): Promise<Result> => {
  const { client, signal, approvals, report } = options
  let { org_id } = options
  const result: Result = { done: [], failed: [], left: [], by_hand: [] }
  const stop = new AbortController()
  const stopped = AbortSignal.any([signal, stop.signal])

  const attempt = async (of: readonly Step[], work: () => Promise<Created | void>): Promise<void> => {
    try {
      const made = await work()
      org_id = made?.org_id ?? org_id
      for (const step of of) {
        const outcome = { step, ...(made?.code !== undefined && { code: made.code }) }
        result.done.push(outcome)
        report(outcome)
      }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      for (const step of of) {
        result.failed.push({ step, error })
        report({ step, error })
      }
      if (isFatal(error) || of[0]?.section === 'organization') stop.abort()
    }
  }
  const run = (step: Step): Promise<void> =>
    attempt([step], () => runStep(step, client, { org_id, approvals }))

  for (const group of groupSteps(steps)) {
    if (isSigned(group[0]!.section)) {
      const kept = group.filter(({ action }) => action !== 'delete' || result.failed.length === 0)
      if (kept.length > 0 && !stopped.aborted) await attempt(kept, () => runSignedSteps(kept, client, org_id))
      continue
    }
    if (group[0]!.action === 'delete' && result.failed.length > 0) stop.abort()
    await inParallel(
      group.filter(({ action }) => action !== 'by_hand'),
      stopped,
      run,
    )
  }
  const attempted = new Set([...result.done, ...result.failed].map(({ step }) => step))
  for (const step of steps)
    if (step.action === 'by_hand') result.by_hand.push(step)
    else if (!attempted.has(step)) result.left.push(step)
  return result
}
