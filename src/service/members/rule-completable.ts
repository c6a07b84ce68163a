import { mostAsked } from '../../contract/approvers.ts'
import type { Rule } from '../../contract/rule-shape.ts'
import { assign, type LineOfPeople, sufficeWithoutAny } from '../../core/assignment.ts'
import { conflict } from '../../core/refusal.ts'
import { heldTogether } from '../../rules/held-together.ts'
import type { Call, RequiredLine, Requirement } from '../call/call.ts'
import { organizationRow } from '../call/tenant.ts'
import { awakeAmong } from '../devices/seats.ts'
import type { Book } from '../policy/group-rows.ts'
import { emergencyLinesOf, linesOf, mergedLines, peopleIn } from '../policy/rules.ts'
import { commandsFor, findUnchecked, type KnownFactors, nothingAgainst } from '../policy/unchecked-factors.ts'

// A rule that nobody can satisfy holds everything, and only the operator could undo it. So it is not made.

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

const toPeople = (lines: readonly RequiredLine[]): LineOfPeople[] =>
  mergedLines(lines).map(({ members, need }) => ({ people: members.map(String), need }))

/** Whether these people suffice for all lines. */
const suffice = (lines: readonly RequiredLine[], people: Iterable<number>): boolean => {
  const yeses = [...people].map((id) => ({ id: String(id), counts: () => true }))
  return assign(toPeople(lines), yeses) !== undefined
}

/** Whether the people of all lines who can be asked now suffice. */
export const isCompletable = async (
  call: Call,
  { orgId, lines }: Pick<Requirement, 'orgId' | 'lines'>,
): Promise<boolean> => suffice(lines, await awakeAmong(call, orgId, [...peopleIn(lines)]))

/** The rules that ask a group, also in an emergency: who joins it can then approve without the others. */
export const rulesOfGroup = ({ rules }: Pick<Book, 'rules'>, name: string): Rule[] =>
  rules
    .map(({ rule }) => rule)
    .filter(({ who, break_glass = '' }) =>
      [...who, break_glass].some((text) => text.split(':')[0] === `@${name}`),
    )

/** Refuses rules that hold the same call of svc if these people are too few or too many for all of them; only sets with one of `names`. */
export const refuseClash = (book: Book, names: ReadonlySet<string>, people: Iterable<number>): void => {
  const all = [...people]
  const clash = heldTogether(book.rules.map(({ rule }) => rule))
    .filter((set) => set.some(({ name }) => names.has(name)))
    .find((set) => {
      const lines = set.flatMap((rule) => linesOf(book, rule))
      return peopleIn(lines).size >= mostAsked || !suffice(lines, all)
    })
  if (!clash) return
  throw conflict(
    'rule_not_completable',
    `The rules ${clash.map(({ name }) => name).join(', ')} hold the same calls, and one request for all needs more people than can be asked`,
    'Give them the same group, add members, or hold other operations',
  )
}

/**
 * Refuses a rule that nobody could satisfy, or not when one of its own people asks. `awake`: who can be asked now; `known`: what
 * was read of people for another rule.
 */
export const requireCompletable = async (
  call: Call,
  orgId: number,
  { book, rule, awake, known }: { book: Book; rule: Rule; awake: ReadonlySet<number>; known: KnownFactors },
): Promise<void> => {
  requireAskable(orgId, book, rule)
  const lines = linesOf(book, rule)
  const people = [...peopleIn(lines)].map((user_id) => ({ org_id: orgId, user_id }))
  const unchecked = await findUnchecked(call.db, people, rule.factors ?? [], known)
  if (unchecked.length > 0) {
    const { slug } = await organizationRow(call.db, orgId)
    throw conflict(
      'rule_not_completable',
      `The rule ${rule.name} requires ${unchecked.join(' and ')}, and ${nothingAgainst(unchecked, slug)}`,
      `First: ${commandsFor(unchecked, slug)}`,
    )
  }
  if (!suffice(emergencyLinesOf(book, rule), awake))
    throw conflict(
      'rule_not_completable',
      `Nobody of the group ${rule.break_glass}, which the rule ${rule.name} names for break-glass, has an active device`,
      `Add a member: svc group add NAME --user ID --org ${orgId}`,
    )
  const able = [...peopleIn(lines)].filter((id) => awake.has(id)).map(String)
  if (sufficeWithoutAny(toPeople(lines), able)) return
  throw conflict(
    'rule_not_completable',
    `Too few people could satisfy the rule ${rule.name} when one of them asks: it needs ${lines.map(({ need, group }) => `${need + 1} members of @${group?.name}`).join(' and ')} with an active device${lines.length > 1 ? ', each for one group' : ''}`,
    `Add a member: svc group add NAME --user ID --org ${orgId}; svc group list --org ${orgId} shows who has no device`,
  )
}

/** Refuses what gives one of these groups too many members for a rule to ask them all. */
export const requireFewEnough = (orgId: number, book: Book, names: readonly string[]): void => {
  for (const rule of names.flatMap((name) => rulesOfGroup(book, name))) requireAskable(orgId, book, rule)
}

/** Refuses what leaves one of these groups with too few members for its rules: nobody could satisfy them any more. */
export const requireEnoughMembers = (orgId: number, book: Book, names: readonly string[]): void => {
  const rules = [...new Set(names.flatMap((name) => rulesOfGroup(book, name)))]
  for (const rule of rules)
    for (const { members, need, group } of linesOf(book, rule))
      if (members.length < need)
        throw conflict(
          'rule_not_completable',
          `The rule ${rule.name} needs ${need} of the group ${group?.name}, which would have ${members.length}`,
          `Delete the rule first, or change it together with the group: svc rule delete ${rule.name} --org ${orgId}; svc apply`,
        )
  const everybody = peopleIn(book.rules.flatMap(({ rule }) => linesOf(book, rule)))
  refuseClash(book, new Set(rules.map(({ name }) => name)), everybody)
}
