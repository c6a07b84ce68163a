import { rowsIn } from '../../client/answer-data.ts'
import { group } from '../../contract/group.ts'
import type { Data } from '../../contract/operation.ts'
import { rule } from '../../contract/rule.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'

export type Group = Pick<Data<typeof group.getGroup>, 'name' | 'members' | 'asleep'>
type Rule = Pick<Data<typeof rule.getRule>, 'name' | 'who'>

/** Rules with a line that too few people of its group are left to complete, each with what to type next. */
export const shortRules = (rules: readonly Rule[], groups: readonly Group[], org: string) =>
  rules.flatMap(({ name, who }) =>
    who.flatMap((text) => {
      const [, named, need = '1'] = /^@([\w.-]{1,64})(?::(\d{1,3}))?$/.exec(text) ?? []
      const found = groups.find((one) => one.name === named)
      const able = found ? found.members.length - found.asleep.length : 0
      // One of them may be the requester, who cannot approve.
      if (named === undefined || able > Number(need)) return []
      const only = able === 0 ? 'nobody' : `only ${able}`
      const then =
        able === Number(need) ? 'what one of them asks for cannot be approved' : 'nobody can do what it holds'
      return {
        message: `rule ${safeLine(name)} needs ${need} of @${named}, and ${only} can be asked: ${then}`,
        next: `svc group add ${shellQuote(named)} --user ID --org ${shellQuote(org)}`,
      }
    }),
  )

/** All groups and rules of an organization. */
export const readGroupsAndRules = async (context: Context, org_id: number) => {
  const client = await context.client()
  const { signal } = context.io
  const [groups, rules]: [Group[], Rule[]] = [[], []]
  for await (const answer of client.pages(group.listGroups, { org_id }, { signal }))
    groups.push(...rowsIn(group.listGroups, answer))
  for await (const answer of client.pages(rule.listRules, { org_id }, { signal }))
    rules.push(...rowsIn(rule.listRules, answer))
  return { groups, rules }
}
