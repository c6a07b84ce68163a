import { sha256 } from '../../core/ids.ts'
import type { Bound } from '../context/context.ts'
import type { Plan, Step } from './plan.ts'

/** As much of a plan as an approver can read field by field; of a longer one, its counts, deletions and digest. */
const mostLength = 20_000
const mostFields = 400

const nameOf = ({ section, key }: Step): string => `${section}/${key}`

const valuesOf = (steps: readonly Step[], side: 'before' | 'after'): Record<string, unknown> =>
  Object.fromEntries(
    steps.map((step) => [
      nameOf(step),
      Object.fromEntries(
        step.changes.flatMap((change) => (side in change ? [[change.field, change[side]]] : [])),
      ),
    ]),
  )

/** What a plan does, for the person who approves it: counts, every deletion, and each change where there is room. */
export const boundPlan = ({ steps: all }: Plan, source: string): Bound => {
  const steps = all.filter(({ action }) => action !== 'by_hand')
  const counts: Record<string, number> = {}
  for (const { action } of steps) counts[action] = (counts[action] ?? 0) + 1
  const changed = steps.filter(({ action }) => action === 'change')
  const body = valuesOf(
    steps.filter(({ action }) => action !== 'delete'),
    'after',
  )
  const before = valuesOf(changed, 'before')
  const fields = steps.reduce((sum, { changes }) => sum + changes.length, 0)
  const fits = JSON.stringify([body, before]).length <= mostLength && fields <= mostFields
  return {
    operation: 'apply',
    body: fits ? body : {},
    ...(fits && changed.length > 0 && { before }),
    counts,
    deletions: steps.flatMap((step) => (step.action === 'delete' ? [nameOf(step)] : [])),
    file: { name: `plan of ${source}`, sha256: sha256(JSON.stringify(steps)) },
  }
}
