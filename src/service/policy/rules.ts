import canonicalize from 'canonicalize'
import { parseLine } from '../../contract/approvers.ts'
import type { Rule } from '../../contract/rule-shape.ts'
import { sha256 } from '../../core/ids.ts'
import { addMs, dayMs } from '../../core/iso-time.ts'
import { latestTime, rulesInWrite } from '../call/audit.ts'
import type { Call, Requirement, RequiredLine } from '../call/call.ts'
import { type Book, readBook } from './group-rows.ts'
import type { StoredRule } from './known-heads.ts'

// The rules of an organization, and whom they ask.

const digests = new WeakMap<Rule, string>()

/** What approvers sign of a rule. Nobody changes a rule that was parsed, so its digest is computed once. */
export const ruleDigest = (rule: Rule): string => {
  const digest = digests.get(rule) ?? sha256(canonicalize(rule)!)
  digests.set(rule, digest)
  return digest
}

/** For this long, one other administrator can remove a new rule: whoever it asks may never have agreed to it. */
const newForMs = dayMs

export const isNew = ({ created_at }: StoredRule, call: Pick<Call, 'db' | 'now'>, orgId: number): boolean =>
  // One of a clock that was ahead is not new until then, and none is new again after the clock was set back.
  created_at <= call.now && addMs(created_at, newForMs) > latestTime(call, orgId)

type Groups = Pick<Book, 'groups'>

/** A group that does not exist has nobody, so that nobody can complete its line. */
const lineOf = ({ groups }: Groups, name: string, text: string): RequiredLine => {
  const line = parseLine(text)
  const found = groups.find((one) => one.name === line.group && one.deleted_at === null)
  return {
    members: found?.members ?? [],
    need: line.need,
    group: found ? { id: found.id, name: found.name } : null,
    rules: [name],
    separated: true,
  }
}

/** The lines of a rule, as the groups are now. */
export const linesOf = (groups: Groups, { name, who }: Rule): RequiredLine[] =>
  who.map((text) => lineOf(groups, name, text))

/** Who can approve in an emergency, instead of the lines of the rule; none if nobody can. */
export const emergencyLinesOf = (groups: Groups, { name, break_glass }: Rule): RequiredLine[] =>
  break_glass === undefined ? [] : [lineOf(groups, name, break_glass)]

/** What rules require together: every line of each. */
export const requirementOf = (
  orgId: number,
  book: Pick<Book, 'groups'>,
  { holding = [], weakened = [] }: { holding?: readonly Rule[]; weakened?: readonly Rule[] },
): Requirement => {
  const rules = [...new Set([...holding, ...weakened])]
  return {
    orgId,
    lines: rules.flatMap((rule) => linesOf(book, rule)),
    rules: rules.map((rule) => ({ name: rule.name, digest: ruleDigest(rule) })),
    holding: holding.map(({ name }) => name),
  }
}

/** Everybody whom lines name. */
export const peopleIn = (lines: readonly Pick<RequiredLine, 'members'>[]): Set<number> =>
  new Set(lines.flatMap(({ members }) => members))

/** Lines of the same people are one, with the higher need. Whoever leaves a group is in none of its lines. */
export const mergedLines = <L extends RequiredLine>(lines: readonly L[]): (L & { members: number[] })[] => {
  const all = new Map<string, L & { members: number[] }>()
  for (const line of lines) {
    const own = [...new Set(line.members)].sort((a, b) => a - b)
    const name = JSON.stringify([line.group?.id ?? own, line.separated])
    const same = all.get(name)
    const members = same ? own.filter((id) => same.members.includes(id)) : own
    const need = Math.max(line.need, same?.need ?? 0)
    const rules = [...new Set([...(same?.rules ?? []), ...line.rules])]
    all.set(name, { ...line, members, need, rules })
  }
  return [...all.values()]
}

/** Whether an organization ever had a group or a rule. Without one, there is nothing to read. */
const mayHold = (call: Pick<Call, 'db' | 'keyring' | 'preconditions'>, orgId: number): boolean =>
  call.preconditions?.orgId !== orgId || call.preconditions.hasRules === 1 || rulesInWrite(call, orgId) !== 0

/** The rules and groups that decide about a request; undefined if the organization never had one. */
export const bookOf = async (
  call: Pick<Call, 'db' | 'keyring' | 'preconditions'>,
  orgId: number,
): Promise<Book | undefined> => (mayHold(call, orgId) ? readBook(call, orgId) : undefined)
