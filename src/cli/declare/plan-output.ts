import type { Context } from '../context/context.ts'
import { wantsColour } from '../terminal/colour.ts'
import { count, type Plan } from './plan.ts'
import { planText } from './plan-text.ts'

/** Whether the plan is for a person to read: as -o table, or where nobody said how. */
export const isForPeople = ({ globals }: Context): boolean =>
  (globals.output ?? 'table') === 'table' &&
  globals.json === undefined &&
  globals.jq === undefined &&
  globals.envelope === undefined

/** The plan as text for a stream; phones and e-mails are masked on a terminal. */
export const planFor = (plan: Plan, context: Context, name: 'stdout' | 'stderr'): string => {
  const { io, globals } = context
  const stream = io[name]
  const masked = stream.isTTY && !globals.reveal
  return planText(plan, { colour: wantsColour(stream, { io, globals }), masked })
}

/** The plan as data: `summary` counts, `steps` say what happens to what. */
export const planData = (plan: Plan) => ({
  organization: plan.organization,
  summary: {
    create: count(plan, 'create'),
    change: count(plan, 'change'),
    delete: count(plan, 'delete'),
    by_hand: count(plan, 'by_hand'),
    extra: plan.extra.length,
  },
  steps: plan.steps,
  extra: plan.extra,
  ambiguous: plan.ambiguous,
})

/** Formats of lists: a line a row. */
export const wantsRows = ({ globals }: Context): boolean =>
  ['csv', 'tsv', 'ndjson'].includes(globals.output ?? 'table')

/** The columns of a plan as rows. */
export const planColumns = ['action', 'section', 'key', 'field', 'before', 'after'] as const

/** A list format gets a row for each field of each step, any other the whole. */
export const planPayload = (plan: Plan, context: Context): unknown =>
  wantsRows(context)
    ? plan.steps.flatMap(({ action, section, key, changes }) => {
        const fields: { field: string | null; before?: unknown; after?: unknown }[] =
          changes.length > 0 ? changes : [{ field: null }]
        return fields.map(({ field, before = null, after = null }) => ({
          action,
          section,
          key,
          field,
          before,
          after,
        }))
      })
    : planData(plan)
