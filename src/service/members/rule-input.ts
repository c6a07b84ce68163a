import type { Rule } from '../../contract/rule-shape.ts'
import { invalid } from '../../core/refusal.ts'
import { nearest } from '../../core/nearest.ts'
import { ruleProblems } from '../../rules/check.ts'
import type { Call } from '../call/call.ts'
import { named } from '../devices/seats.ts'
import { callingIn } from '../keys/rows.ts'
import type { Book } from '../policy/group-rows.ts'

// What is wrong in a rule itself.

/** `at`: where the rule is in the input. Fails with 422 for what is wrong in the rule itself. */
export const checkRule = ({ groups }: Book, org_id: number, rule: Rule, at = ''): void => {
  const [problem] = ruleProblems(rule)
  if (problem) throw invalid(`${at}${problem.field}`, problem.message)
  const lines = [
    ...rule.who.map((text, i) => [`who[${i}]`, text] as const),
    ...(rule.break_glass === undefined ? [] : [['break_glass', rule.break_glass] as const]),
  ]
  for (const [field, text] of lines) {
    const name = text.slice(1).split(':')[0]!
    if (named(groups, name)) continue
    const known = groups.flatMap((one) => (one.deleted_at === null ? one.name : []))
    const near = nearest(name, known)
    throw invalid(
      `${at}${field}`,
      `must be a group that exists, not ${text}${near === undefined ? '' : `; did you mean @${near}?`}`,
      `svc group list --org ${org_id} lists the groups`,
    )
  }
}

/**
 * A rule names keys by their first secrets, which rotations do not change. Another id would hold nothing, and the
 * key of a terminal or an agent nothing once its person signs out and in again.
 */
export const checkKeys = async ({ db }: Call, org_id: number, { match }: Rule, at = ''): Promise<void> => {
  for (const [i, text] of (match.key ?? []).entries()) {
    const field = `${at}match.key[${i}]`
    const key = await db
      .selectFrom('api_keys')
      .where('id', '=', /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0)
      .where(callingIn(org_id))
      .select(['id', 'name', 'lineage', 'client_id'])
      .executeTakeFirstOrThrow(() => invalid(field, `must be the id of a key, not ${text}`, 'svc key list'))
    if (key.lineage !== null)
      throw invalid(field, `must be ${key.lineage}, the first secret of this key, not its newer one ${text}`)
    if (key.client_id !== null)
      throw invalid(
        field,
        `must not be ${text} (${key.name}): whoever signs out and in again gets another key`,
        'Leave out --key: the rule then holds what anybody requests. Or name a key from svc key create',
      )
  }
}
