import { Chalk } from 'chalk'
import stringWidth from 'string-width'
import { safeLine } from '../../core/safe-text.ts'
import { sha256 } from '../../core/ids.ts'
import type { Bound, Context } from '../context/context.ts'
import { wantsColour } from '../terminal/output.ts'
import { maskFields } from '../terminal/mask.ts'
import { type Change, count, type Plan, type Step } from './plan.ts'
import type { Fields } from './state.ts'

export const symbols = { create: '+', change: '~', delete: '-', by_hand: '!' } as const
const colours = { create: 'green', change: 'yellow', delete: 'red', by_hand: 'magenta' } as const
const mostExtra = 20

type Look = { colour: boolean; masked: boolean }

/** `Home 52.52,13.405 150 m`, `Nights mon,tue 22:00-06:00 Europe/Berlin`: a rule of a user on one line. */
const ruleText = (rule: Fields): string => {
  const place = `${rule.latitude},${rule.longitude} ${rule.radius} m`
  const time = `${(rule.days as string[] | undefined)?.join(',')} ${rule.start}-${rule.end} ${rule.timezone}`
  const off = rule.enabled === false || rule.is_active === 0 ? ' (off)' : ''
  return `${rule.name} ${'radius' in rule ? place : time}${off}`
}

const valueText = (value: unknown): string => {
  if (value === undefined || value === null) return '(none)'
  if (!Array.isArray(value)) return String(value)
  if (value.length === 0) return '(empty)'
  const rules = value.every((item) => typeof item === 'object' && item !== null)
  return rules ? value.map((rule) => ruleText(rule as Fields)).join('; ') : value.join(',')
}

const shownValue = ({ field }: Change, value: unknown, { masked }: Look): string => {
  const shown = masked ? (maskFields({ [field]: value }, new Set(['email'])) as Fields)[field] : value
  return safeLine(valueText(shown))
}

/** `users/+12025550101`; of a phone as much as a terminal shows. */
export const stepName = ({ section, key }: Pick<Step, 'section' | 'key'>, masked: boolean): string => {
  if (section === 'organization' || section === 'idp')
    return section === 'idp' ? section : `${section}/${safeLine(key)}`
  const shown =
    masked && section === 'users' ? (maskFields({ mobile: key }, new Set(['mobile'])) as Fields).mobile : key
  return `${section}/${safeLine(String(shown))}`
}

const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - stringWidth(text)))

/** What a new row is made of, on its line; what is empty says nothing. */
const createdText = (changes: Change[], look: Look): string =>
  changes
    .filter(({ after }) => !(Array.isArray(after) && after.length === 0))
    .map((change) => `${change.field} ${shownValue(change, change.after, look)}`)
    .join(', ')

const changedLines = (changes: Change[], look: Look): string[] => {
  const names = Math.max(...changes.map(({ field }) => field.length))
  return changes.map((change) => {
    const { field, before, after } = change
    return `      ${padded(field, names)}  ${shownValue(change, before, look)} -> ${shownValue(change, after, look)}`
  })
}

export const summary = ({ steps, extra }: Pick<Plan, 'steps' | 'extra'>): string => {
  const plan = { steps, extra } as Plan
  const counts = [
    `${count(plan, 'create')} to create`,
    `${count(plan, 'change')} to change`,
    `${count(plan, 'delete')} to delete`,
    ...(count(plan, 'by_hand') > 0 ? [`${count(plan, 'by_hand')} by hand`] : []),
  ].join(', ')
  return extra.length === 0
    ? counts
    : `${counts}; ${extra.length} here that the file lacks (--prune deletes them)`
}

const listed = (names: string[]): string =>
  names.length > mostExtra
    ? `${names.slice(0, mostExtra).join(', ')} and ${names.length - mostExtra} more`
    : names.join(', ')

/** The plan for a person: a line for each step, a line for each field that changes, and the count. */
export const planText = (plan: Plan, look: Look): string => {
  const chalk = new Chalk({ level: look.colour ? 1 : 0 })
  const names = plan.steps.map((step) => stepName(step, look.masked))
  const width = Math.min(40, Math.max(0, ...names.map((name) => stringWidth(name))))
  const lines = plan.steps.flatMap((step, i): string[] => {
    const { action, changes, note } = step
    const more = action === 'create' ? createdText(changes, look) : safeLine(note ?? '')
    const head = `  ${symbols[action]} ${more === '' ? names[i]! : `${padded(names[i]!, width)}  ${more}`}`
    const below =
      (action === 'change' || action === 'by_hand') && changes.length > 0 ? changedLines(changes, look) : []
    return [chalk[colours[action]](head), ...below]
  })
  const extra = plan.extra.map((row) => stepName(row, look.masked))
  const apart = plan.ambiguous.map(
    ({ section, key, ids }) =>
      `Left alone: ${ids.length} ${section} are called "${safeLine(key)}" (ids ${ids.join(', ')})`,
  )
  const blocks = [
    lines,
    extra.length > 0 ? [`Here that the file lacks: ${listed(extra)}`] : [],
    apart,
    [lines.length === 0 && extra.length === 0 ? 'No changes: the service matches the file.' : summary(plan)],
  ]
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`
}

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

/** A plan that is all that is wanted: as text for a person, or else as data. */
export const showPlan = async (plan: Plan, message: string, context: Context): Promise<void> => {
  if (isForPeople(context)) return context.io.stdout.write(planFor(plan, context, 'stdout'))
  const output = await context.output()
  await output.show({ status: 'success', message, data: planPayload(plan, context) }, { known: planColumns })
}
