import { mostAsked } from '../../contract/approvers.ts'
import type { Rule } from '../../contract/rule-shape.ts'
import { assign } from '../../core/assignment.ts'
import { conflict } from '../../core/refusal.ts'
import { mayOverlap } from '../../rules/terms.ts'
import type { Call, RequiredLine, Requirement } from '../call/call.ts'
import { organizationRow } from '../call/tenant.ts'
import { awakeAmong } from '../devices/seats.ts'
import type { Book } from '../policy/group-rows.ts'
import { emergencyLinesOf, linesOf, mergedLines } from '../policy/rules.ts'
import { commandsFor, findUnchecked, nothingAgainst } from '../policy/unchecked-factors.ts'

// A rule that nobody can satisfy holds everything, and only the operator could undo it. So it is not made.

export const peopleIn = (lines: readonly RequiredLine[]): Set<number> =>
  new Set(lines.flatMap(({ members }) => members))

/** Refuses a rule whose people, with the administrator whom its deletion needs, are more than one request can ask. */
const requireAskable = (orgId: number, book: Book, rule: Rule): void => {
  const { size } = peopleIn(linesOf(book, rule))
  if (size < mostAsked) return
  throw conflict(
    'rule_not_completable',
    `The groups of the rule ${rule.name} have ${size} people, and one request can ask ${mostAsked}, one of them an administrator`,
    `Name fewer or smaller groups: svc group list --org ${orgId}`,
  )
}

/** Whether these people suffice for all lines; `asker`: without this one. */
const suffice = (lines: readonly RequiredLine[], awake: readonly number[], asker?: number): boolean => {
  const people = mergedLines(lines).map(({ members, need }) => ({ people: members.map(String), need }))
  const yeses = awake.filter((id) => id !== asker).map((id) => ({ id: String(id), counts: () => true }))
  return assign(people, yeses) !== undefined
}

/** Whether the people of all lines who can be asked now suffice; `alsoWithoutAny`: also if one of them asks. */
export const isCompletable = async (
  call: Call,
  { orgId, lines }: Pick<Requirement, 'orgId' | 'lines'>,
  { alsoWithoutAny = false } = {},
): Promise<boolean> => {
  const awake = [...(await awakeAmong(call, orgId, [...peopleIn(lines)]))]
  if (!alsoWithoutAny) return suffice(lines, awake)
  return awake.length > 0 && awake.every((asker) => suffice(lines, awake, asker))
}

/** The rules that ask a group, also in an emergency: who joins it can then approve without the others. */
export const rulesOfGroup = ({ rules }: Pick<Book, 'rules'>, name: string): Rule[] =>
  rules
    .map(({ rule }) => rule)
    .filter(({ who, break_glass = '' }) =>
      [...who, break_glass].some((text) => text.split(':')[0] === `@${name}`),
    )

/** The other rules that can hold a call of svc together with this one, with the lines of both. */
const pairsOf = (book: Book, rule: Rule): { name: string; lines: RequiredLine[] }[] =>
  book.rules.flatMap(({ rule: other }) =>
    other.name === rule.name || !mayOverlap(other.match, rule.match)
      ? []
      : [{ name: other.name, lines: [...linesOf(book, rule), ...linesOf(book, other)] }],
  )

/** Refuses a rule that holds a call of svc together with another one, if these people are too few or too many for both. */
const refuseClash = (book: Book, rule: Rule, people: readonly number[]): void => {
  const clash = pairsOf(book, rule).find(
    ({ lines }) => peopleIn(lines).size >= mostAsked || !suffice(lines, people),
  )
  if (!clash) return
  throw conflict(
    'rule_not_completable',
    `The rules ${rule.name} and ${clash.name} hold the same calls, and one request for both needs more people than can be asked`,
    'Give both the same group, add members, or hold other operations',
  )
}

/** Refuses a rule that holds a call of svc together with another one, if nobody could be asked for both now. */
export const requireTogether = async (call: Call, orgId: number, book: Book, rule: Rule): Promise<void> => {
  const people = peopleIn(pairsOf(book, rule).flatMap(({ lines }) => lines))
  refuseClash(book, rule, [...(await awakeAmong(call, orgId, [...people]))])
}

/** Refuses a rule that nobody could satisfy now, or not when one of its own people asks. */
export const requireCompletable = async (
  call: Call,
  orgId: number,
  book: Book,
  rule: Rule,
): Promise<void> => {
  requireAskable(orgId, book, rule)
  const lines = linesOf(book, rule)
  const people = [...peopleIn(lines)].map((user_id) => ({ org_id: orgId, user_id }))
  const unchecked = await findUnchecked(call.db, people, rule.factors ?? [])
  if (unchecked.length > 0) {
    const { slug } = await organizationRow(call.db, orgId)
    throw conflict(
      'rule_not_completable',
      `The rule ${rule.name} requires ${unchecked.join(' and ')}, and ${nothingAgainst(unchecked, slug)}`,
      `First: ${commandsFor(unchecked, slug)}`,
    )
  }
  const emergency = emergencyLinesOf(book, rule)
  if (!(await isCompletable(call, { orgId, lines: emergency })))
    throw conflict(
      'rule_not_completable',
      `Nobody of the group ${rule.break_glass}, which the rule ${rule.name} names for break-glass, has an active device`,
      `Add a member: svc group add NAME --user ID --org ${orgId}`,
    )
  if (await isCompletable(call, { orgId, lines }, { alsoWithoutAny: true })) return
  throw conflict(
    'rule_not_completable',
    `Too few people could satisfy the rule ${rule.name} when one of them asks: it needs ${lines.map(({ need, group }) => `${need + 1} members of @${group?.name}`).join(' and ')} with an active device${lines.length > 1 ? ', each for one group' : ''}`,
    `Add a member: svc group add NAME --user ID --org ${orgId}; svc group list --org ${orgId} shows who has no device`,
  )
}

/** Refuses what leaves one of these groups with too few or too many members for a rule: nobody could satisfy it any more. */
export const requireEnoughMembers = (orgId: number, book: Book, names: readonly string[]): void => {
  for (const rule of new Set(names.flatMap((name) => rulesOfGroup(book, name)))) {
    requireAskable(orgId, book, rule)
    for (const { members, need, group } of linesOf(book, rule))
      if (members.length < need)
        throw conflict(
          'rule_not_completable',
          `The rule ${rule.name} needs ${need} of the group ${group?.name}, which would have ${members.length}`,
          `Delete the rule first, or change it together with the group: svc rule delete ${rule.name} --org ${orgId}; svc apply`,
        )
    refuseClash(book, rule, [...peopleIn(pairsOf(book, rule).flatMap(({ lines }) => lines))])
  }
}
