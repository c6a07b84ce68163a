import { Chalk } from 'chalk'
import stringWidth from 'string-width'
import { exceptText, grantText, matchText, reasonText } from '../../rules/rule-text.ts'
import { safeLine } from '../../core/safe-text.ts'
import { sha256 } from '../../core/ids.ts'
import type { Bound, Context } from '../context/context.ts'
import { isForPeople, wantsColour } from '../terminal/output.ts'
import { padded } from '../terminal/columns.ts'
import { maskFields } from '../terminal/mask.ts'
import type { Change, Plan, Step } from './plan.ts'
import type { Fields } from './state.ts'

const symbols = { create: '+', change: '~', delete: '-', by_hand: '!' } as const
const colours = { create: 'green', change: 'yellow', delete: 'red', by_hand: 'magenta' } as const
const mostExtra = 20

type Look = Pick<Plan, 'names'> & { colour: boolean; masked: boolean }

const listText = (value: unknown): string => (Array.isArray(value) ? value.join(',') : String(value))

/** A geofence or a time slot of a user: `Home 52.52,13.405 150 m`, `Nights mon,tue 22:00-06:00 Europe/Berlin`. */
const ruleText = (rule: Fields): string => {
  const place = `${rule.latitude},${rule.longitude} ${rule.radius} m`
  const time = `${listText(rule.days)} ${rule.start}-${rule.end} ${rule.timezone}`
  const off = rule.enabled === false || rule.is_active === 0 ? ' (off)' : ''
  return `${rule.name} ${'radius' in rule ? place : time}${off}`
}

/** Fields of a rule about who must approve. */
const ruleTexts: Record<string, (value: unknown) => string> = {
  match: matchText,
  except: exceptText,
  reason: reasonText,
  grant: grantText,
}

const valueText = (field: string, value: unknown): string => {
  if (value === undefined || value === null) return '(none)'
  if (Object.hasOwn(ruleTexts, field)) return ruleTexts[field]!(value)
  if (!Array.isArray(value)) return String(value)
  if (value.length === 0) return '(empty)'
  const rules = value.every((item) => typeof item === 'object' && item !== null)
  return rules ? value.map((rule) => ruleText(rule as Fields)).join('; ') : value.join(',')
}

const shownNumber = (mobile: string, masked: boolean): string =>
  masked ? String((maskFields({ mobile }, new Set(['mobile'])) as Fields).mobile) : mobile

const shownValue = ({ field }: Change, value: unknown, { masked, names }: Look): string => {
  if (field === 'members' && Array.isArray(value) && value.length > 0)
    return safeLine((value as string[]).map((one) => names.get(one) ?? shownNumber(one, masked)).join(', '))
  const shown = masked ? (maskFields({ [field]: value }, new Set(['email'])) as Fields)[field] : value
  return safeLine(valueText(field, shown))
}

/** `users/+12025550101`; `masked` hides most of a phone number. */
export const stepName = ({ section, key }: Pick<Step, 'section' | 'key'>, masked: boolean): string => {
  if (section === 'organization' || section === 'idp')
    return section === 'idp' ? section : `${section}/${safeLine(key)}`
  return `${section}/${safeLine(section === 'users' ? shownNumber(key, masked) : key)}`
}

/** The fields of a new row on one line, without empty lists. */
const createdText = (changes: Change[], look: Look): string =>
  changes
    .filter(({ after }) => !(Array.isArray(after) && after.length === 0))
    .map((change) => `${change.field} ${shownValue(change, change.after, look)}`)
    .join(', ')

/** Who leaves a group and who joins it: nobody finds that in two lists. */
const movedText = ({ field, before, after }: Change, look: Look): string | undefined => {
  if (field !== 'members' || !Array.isArray(before) || !Array.isArray(after)) return undefined
  const signed = (sign: string, some: unknown[], others: unknown[]): string[] =>
    some.filter((one) => !others.includes(one)).map((one) => `${sign} ${shownValue({ field }, [one], look)}`)
  return [...signed('-', before, after), ...signed('+', after, before)].join(', ')
}

const changedLines = (changes: Change[], look: Look): string[] => {
  const names = Math.max(...changes.map(({ field }) => field.length))
  return changes.map((change) => {
    const { field, before, after } = change
    const moved = movedText(change, look)
    return `      ${padded(field, names)}  ${moved ?? `${shownValue(change, before, look)} -> ${shownValue(change, after, look)}`}`
  })
}

const countsOf = ({ steps, extra }: Pick<Plan, 'steps' | 'extra'>) => {
  const counts = { create: 0, change: 0, delete: 0, by_hand: 0, extra: extra.length }
  for (const { action } of steps) counts[action] += 1
  return counts
}

export const summary = (plan: Pick<Plan, 'steps' | 'extra'>): string => {
  const { create, change, delete: deleted, by_hand, extra } = countsOf(plan)
  return [
    `${create} to create, ${change} to change, ${deleted} to delete`,
    ...(by_hand > 0 ? [`, ${by_hand} by hand`] : []),
    ...(extra > 0 ? [`; ${extra} only in the service (--prune deletes ${extra === 1 ? 'it' : 'them'})`] : []),
  ].join('')
}

const listed = (names: string[]): string =>
  names.length > mostExtra
    ? `${names.slice(0, mostExtra).join(', ')} and ${names.length - mostExtra} more`
    : names.join(', ')

/** One line for each step, one for each field that changes, and the counts. */
export const planText = (plan: Plan, given: Omit<Look, 'names'>): string => {
  const look = { ...given, names: plan.names }
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
  const ambiguous = plan.ambiguous.map(
    ({ section, key, ids }) =>
      `Skipped: ${ids.length} ${section} have the name "${safeLine(key)}" (ids ${ids.join(', ')})`,
  )
  const blocks = [
    lines,
    extra.length > 0 ? [`Only in the service: ${listed(extra)}`] : [],
    ambiguous,
    [lines.length === 0 && extra.length === 0 ? 'No changes: the service matches the file.' : summary(plan)],
  ]
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`
}

/** The plan as text for a stream; phones and e-mails are masked. */
export const planFor = (plan: Plan, context: Context, name: 'stdout' | 'stderr'): string => {
  const { io, globals } = context
  const stream = io[name]
  const masked = !globals.reveal
  return planText(plan, { colour: wantsColour(stream, { io, globals }), masked })
}

/** Whether the format has one line for each row. */
export const wantsRows = ({ globals }: Context): boolean =>
  ['csv', 'tsv', 'ndjson'].includes(globals.output ?? 'table')

const planColumns = ['action', 'section', 'key', 'field', 'before', 'after'] as const

/** For a list format, one row for each field of each step; for any other, the whole plan. */
const planPayload = (plan: Plan, context: Context): unknown => {
  const { organization, extra, ambiguous } = plan
  const steps = plan.steps.map((step) => ({ ...step, whole: undefined }))
  if (!wantsRows(context)) return { organization, summary: countsOf(plan), steps, extra, ambiguous }
  return steps.flatMap(({ action, section, key, changes }) => {
    const fields: Partial<Change>[] = changes.length > 0 ? changes : [{}]
    return fields.map(({ field = null, before = null, after = null }) => ({
      action,
      section,
      key,
      field,
      before,
      after,
    }))
  })
}

/** An approver sees every field of a plan up to this size, and of a longer one its counts, deletions and digest. */
const mostLength = 20_000
const mostFields = 400

const nameOf = ({ section, key, note }: Step): string => `${section}/${key}${note ? `: ${note}` : ''}`

const valuesOf = (steps: readonly Step[], side: 'before' | 'after'): Record<string, unknown> =>
  Object.fromEntries(
    steps.map((step) => [
      nameOf(step),
      Object.fromEntries(
        step.changes.flatMap((change) => (side in change ? [[change.field, change[side]]] : [])),
      ),
    ]),
  )

/** The plan for the person who approves it: counts, every deletion, and each change if it fits. */
export const boundPlan = ({ steps: all }: Plan, source: string): Bound => {
  const steps = all.filter(({ action }) => action !== 'by_hand')
  const counts = Object.entries(countsOf({ steps, extra: [] })).filter(([, count]) => count > 0)
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
    counts: Object.fromEntries(counts),
    deletions: steps.flatMap((step) => (step.action === 'delete' ? [nameOf(step)] : [])),
    file: { name: `plan of ${source}`, sha256: sha256(JSON.stringify(steps)) },
  }
}

export const showPlan = async (plan: Plan, message: string, context: Context): Promise<void> => {
  if (isForPeople(context)) return context.io.stdout.write(planFor(plan, context, 'stdout'))
  const output = await context.output()
  await output.report(message, planPayload(plan, context), { known: planColumns })
}
