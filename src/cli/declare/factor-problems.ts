import { rowsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { checkedAgainst, type CheckedFactor } from '../../contract/checked-factors.ts'
import { geofence } from '../../contract/geofence.ts'
import { timeslot } from '../../contract/timeslot.ts'
import { user } from '../../contract/user.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Plan } from './plan.ts'
import type { Fields, Row, Rows, State } from './state.ts'
import type { Problem } from './yaml.ts'

export type Compared = { rows: Rows; state: State; plan: Plan; prune: boolean }

/** Where a file has what a factor is checked against, and what lists it. */
const checkedBy = {
  location: { section: 'geofences', list: geofence.listGeofences },
  time: { section: 'timeslots', list: timeslot.listTimeslots },
} as const

const isActive = ({ is_active = 1, enabled = true }: Fields): boolean => is_active === 1 && enabled === true

/** Whether the organization has something to check the factor against after the changes, or a user may have it. */
const isCheckable = async (
  { rows, state, prune }: Compared,
  factor: CheckedFactor,
  client: Client,
): Promise<boolean> => {
  const { section, list } = checkedBy[factor]
  const { org_id } = state
  const own = (all: readonly Row[] = []): Fields[] =>
    all.flatMap(({ fields }) => (fields[section] ?? []) as Fields[])
  const declared = rows[section]
  const names = new Set(declared?.map(({ key }) => key))
  const kept = (state.rows[section] ?? []).filter(({ key }) => !prune && !names.has(key))
  const after = [...(declared ?? []), ...kept].map(({ fields }) => fields)
  if ([...after, ...own(rows.users)].some(isActive)) return true
  if (org_id === undefined) return false
  const present = declared ? [] : rowsIn(list, await client.call(list, { org_id }))
  if (present.some((one) => isActive(one as Fields))) return true
  const ofUsers = rowsIn(user.listUserRules, await client.call(user.listUserRules, { org_id }))
  return ofUsers.some((one) => ((one as Fields)[section] as Fields[] | undefined)?.some(isActive) ?? true)
}

/** Factors of changed rules that there would be nothing to check against, so that the service refuses the rule. */
export const factorProblems = async (
  compared: Compared,
  rules: readonly (readonly [number, Row])[],
  client: Client,
): Promise<Problem[]> => {
  const problems: Problem[] = []
  const org = shellQuote(compared.state.slug)
  for (const factor of ['location', 'time'] as const) {
    const places = rules.flatMap(([i, { fields }]) => {
      const at = ((fields.factors ?? []) as string[]).indexOf(factor)
      return at < 0 ? [] : [['rules', i, 'factors', at]]
    })
    if (places.length === 0 || (await isCheckable(compared, factor, client))) continue
    const { section } = checkedBy[factor]
    const { noun, command } = checkedAgainst[factor]
    const message = `requires an active ${noun}, and there is none: add one to ${section}, or first: ${command} --org ${org}`
    problems.push(...places.map((path) => ({ path, message })))
  }
  return problems
}
