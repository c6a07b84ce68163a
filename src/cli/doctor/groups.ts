import { rowsIn } from '../../client/answer-data.ts'
import { group } from '../../contract/group.ts'
import type { Data } from '../../contract/operation.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'
import { ok, tryCheck, warn, type Finding } from './finding.ts'

type Group = Pick<Data<typeof group.getGroup>, 'name' | 'members' | 'asleep'>

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

/** The groups of the organization in use, if there is one and it has any. */
export const checkGroups = (context: Context): Promise<Finding[]> =>
  tryCheck('groups', { unsupported: [], scopeMissing: 'this key cannot read the groups' }, async () => {
    const { org } = await context.settings()
    if (!org) return []
    const { id } = await resolveOrg(org.value, context)
    const groups: Group[] = []
    const client = await context.client()
    for await (const answer of client.pages(group.listGroups, { org_id: id }, { signal: context.io.signal }))
      groups.push(...rowsIn(group.listGroups, answer))
    return reviewGroups(groups, id)
  })
