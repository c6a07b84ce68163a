import type { CheckedFactor } from '../../contract/checked-factors.ts'
import { conflict } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { organizationRow } from '../call/tenant.ts'
import { bookOf, linesOf, peopleIn } from './rules.ts'
import { commandsFor, findUnchecked, type KnownFactors, nothingAgainst } from './unchecked-factors.ts'

/** The names of the rules that require this factor of somebody for whom it cannot be checked. */
const uncheckable = async (call: Call, org_id: number, factor: CheckedFactor): Promise<string[]> => {
  const book = await bookOf(call, org_id)
  const names: string[] = []
  const known: KnownFactors = new Map()
  for (const { rule } of book?.rules ?? []) {
    if (!rule.factors?.includes(factor)) continue
    const people = [...peopleIn(linesOf(book!, rule))].map((user_id) => ({ org_id, user_id }))
    if ((await findUnchecked(call.db, people, [factor], known)).length > 0) names.push(rule.name)
  }
  return names
}

/**
 * Makes a change of geofences or time slots. Throws 409, which undoes it, if a rule then required what nobody can pass: it would
 * refuse all that it holds.
 */
export const keepCheckable = async <T>(
  call: Call,
  { org_id, factor }: { org_id: number; factor: CheckedFactor },
  change: () => Promise<T>,
): Promise<T> => {
  const before = await uncheckable(call, org_id, factor)
  const changed = await change()
  const broken = (await uncheckable(call, org_id, factor)).find((name) => !before.includes(name))
  if (broken === undefined) return changed
  const { slug } = await organizationRow(call.db, org_id)
  throw conflict(
    'rule_not_completable',
    `The rule ${broken} requires ${factor}, and ${nothingAgainst([factor], slug)} after this change`,
    `First: ${commandsFor([factor], slug)}; or delete the rule: svc rule delete ${broken} --org ${slug}`,
  )
}
