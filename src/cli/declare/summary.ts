import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { stepName, wantsRows } from './plan-output.ts'
import type { Outcome, Result } from './execution.ts'
import type { Step } from './plan.ts'

const past = { create: 'created', change: 'changed', delete: 'deleted', by_hand: 'left' } as const

/** `created geofences/HQ`, `not created geofences/HQ: why`. */
export const outcomeLine = ({ step, error }: Outcome, masked: boolean): string => {
  const verb = step.action === 'delete' && step.section === 'users' ? 'removed' : past[step.action]
  return `${error ? 'not ' : ''}${verb} ${stepName(step, masked)}${error ? `: ${error.message}` : ''}`
}

const row = ({ action, section, key }: Step, outcome: string, details = {}) => ({
  action,
  section,
  key,
  outcome,
  ...details,
})

/** The outcome of each step. */
export const resultPayload = (organization: string, result: Result, context: Context): unknown => {
  const { done, failed, left, by_hand } = result
  const steps = [
    ...done.map(({ step, code }) => row(step, 'done', code === undefined ? {} : { code })),
    ...failed.map(({ step, error }) => row(step, 'failed', { error: error.message })),
    ...left.map((step) => row(step, 'left')),
    ...by_hand.map((step) => row(step, 'by_hand', { error: step.note })),
  ]
  if (wantsRows(context)) return steps
  const summary = { done: done.length, failed: failed.length, left: left.length, by_hand: by_hand.length }
  return { organization, summary, steps }
}

/** The error that says what is left to do; undefined if nothing is left. */
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
  // The only reason says more than a count.
  if (done.length === 0 && failed.length === 1) return failed[0]!.error
  const issues = [
    ...failed.map(({ step, error }) => ({ field: stepName(step, masked), message: error.message })),
    ...by_hand.map((step) => ({ field: stepName(step, masked), message: step.note ?? 'by hand' })),
  ]
  if (issues.length === 0) return undefined
  const parts = [
    ...(total > 0 ? [counts] : []),
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
    ...(left.length > 0 ? [`${left.length} not attempted`] : []),
    ...(by_hand.length > 0 ? [`${by_hand.length} left to do by hand`] : []),
  ]
  return new SvcError('partial', 'apply_incomplete', parts.join(', '), {
    issues: issues.slice(0, 20),
    hint: failed.length > 0 ? `${resume} continues with what is left` : resume,
  })
}
