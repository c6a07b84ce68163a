import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { stepName, wantsRows } from './plan-output.ts'
import type { Outcome, Result } from './execution.ts'
import type { Step } from './plan.ts'

const past = { create: 'created', change: 'changed', delete: 'deleted', by_hand: 'left' } as const

const pastOf = ({ action, section }: Step): string =>
  action === 'delete' && section === 'users' ? 'removed' : past[action]

/** `created geofences/HQ`, `not created geofences/HQ: why`. */
export const outcomeLine = ({ step, error }: Outcome, masked: boolean): string =>
  `${error ? 'not ' : ''}${pastOf(step)} ${stepName(step, masked)}${error ? `: ${error.message}` : ''}`

type Row = Pick<Step, 'action' | 'section' | 'key'> & { outcome: string; error?: string; code?: string }

const named = ({ action, section, key }: Step) => ({ action, section, key })

/** How each step ended. */
export const resultPayload = (organization: string, result: Result, context: Context): unknown => {
  const steps: Row[] = [
    ...result.done.map(({ step, code }) => ({
      ...named(step),
      outcome: 'done',
      ...(code !== undefined && { code }),
    })),
    ...result.failed.map(({ step, error }) => ({ ...named(step), outcome: 'failed', error: error.message })),
    ...result.left.map((step) => ({ ...named(step), outcome: 'left' })),
    ...result.by_hand.map((step) => ({ ...named(step), outcome: 'by_hand', error: step.note })),
  ]
  if (wantsRows(context)) return steps
  const { done, failed, left, by_hand } = result
  const summary = { done: done.length, failed: failed.length, left: left.length, by_hand: by_hand.length }
  return { organization, summary, steps }
}

/** The error that tells what is still to be done; undefined when that is nothing. */
export const unfinished = (
  { done, failed, left, by_hand }: Result,
  aborted: boolean,
  resume: string,
  masked: boolean,
): SvcError | undefined => {
  const total = done.length + failed.length + left.length
  const counts = `${done.length} of ${total} steps done`
  if (aborted && left.length > 0)
    return new SvcError('interrupted', 'interrupted', `Stopped: ${counts}`, { hint: `${resume} continues` })
  // Nothing was done, and one reason for it: that reason says more than a count.
  if (done.length === 0 && failed.length === 1) return failed[0]!.error
  const issues = [
    ...failed.map(({ step, error }) => ({ field: stepName(step, masked), message: error.message })),
    ...by_hand.map((step) => ({ field: stepName(step, masked), message: step.note ?? 'by hand' })),
  ]
  if (issues.length === 0) return undefined
  const parts = [
    ...(total > 0 ? [counts] : []),
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
    ...(left.length > 0 ? [`${left.length} not tried`] : []),
    ...(by_hand.length > 0 ? [`${by_hand.length} left to do by hand`] : []),
  ]
  return new SvcError('partial', 'apply_incomplete', parts.join(', '), {
    issues: issues.slice(0, 20),
    hint: failed.length > 0 ? `${resume} continues with what is left` : resume,
  })
}
