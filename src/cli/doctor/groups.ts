import { shellQuote } from '../../core/shell-quote.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'
import { type Group, readGroupsAndRules, shortRules } from '../operation/short-rules.ts'
import { ok, tryCheck, warn, type Finding } from './finding.ts'

/** Groups whose members cannot all be asked: a request that names one may wait for nobody. */
export const reviewGroups = (groups: readonly Group[], orgId: number): Finding[] => {
  if (groups.length === 0) return []
  const short = groups.flatMap(({ name, members, asleep }) => {
    const called = `@${safeLine(name)}`
    if (members.length === asleep.length)
      return warn(
        'groups',
        `nobody in ${called} can be asked`,
        `svc group get ${shellQuote(name)} --org ${shellQuote(String(orgId))}, then svc group add`,
      )
    if (asleep.length === 0) return []
    const who = asleep.length === 1 ? `user ${asleep[0]}` : `users ${asleep.join(', ')}`
    return warn(
      'groups',
      `${who} of ${called} cannot be asked: on hold, or without an active device`,
      `svc user enroll ${shellQuote(asleep[0]!)} --org ${shellQuote(String(orgId))}`,
    )
  })
  return short.length > 0 ? short : [ok('groups', `everybody in the groups can be asked`)]
}

/** The groups and rules of the organization in use, if there is one and it has any. */
export const checkGroups = (context: Context): Promise<Finding[]> =>
  tryCheck('groups', { unsupported: [], scopeMissing: 'this key cannot read the groups' }, async () => {
    const { org } = await context.settings()
    if (!org) return []
    const { id } = await resolveOrg(org.value, context)
    const { groups, rules } = await readGroupsAndRules(context, id)
    const short = shortRules(rules, groups, org.value)
    return [...reviewGroups(groups, id), ...short.map(({ message, next }) => warn('rules', message, next))]
  })
