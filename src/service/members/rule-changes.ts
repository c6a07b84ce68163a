import { conflict, type Refusal } from '../../core/refusal.ts'
import { assign } from '../../core/assignment.ts'
import { mostAsked } from '../../contract/approvers.ts'
import type { Rule } from '../../contract/rule-shape.ts'
import type { Call, RequiredLine, Requirement } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { organizationRow } from '../call/tenant.ts'
import { administrators, adminRoles, isAdministrator } from '../devices/administrators.ts'
import { activeDevices } from '../devices/active.ts'
import { notifyMember } from '../devices/notices.ts'
import { findRoots } from '../devices/origin.ts'
import { isSeparated, relationsTo } from '../devices/relation.ts'
import { awakeAmong } from '../devices/seats.ts'
import { isOperatorKey } from '../keys/scopes.ts'
import type { Book, Group } from '../policy/group-rows.ts'
import { emergencyLinesOf, linesOf, mergedLines, requirementOf } from '../policy/rules.ts'
import { commandsFor, findUnchecked, nothingAgainst } from '../policy/unchecked-factors.ts'

// Groups and rules decide who approves, so people sign each change of them on their phones.

/** Devices of administrators whose origin one change follows. */
const mostFollowed = 200

/**
 * Administrators whom neither the calling key nor a key of the same creator appointed or enrolled: with two such keys, one
 * person could ask and answer. At most `most`, those first who were appointed first, so that nobody can keep the others out with
 * administrators of their own.
 */
const separatedAdministrators = async (call: Call, orgId: number, most: number): Promise<number[]> => {
  const devices = await activeDevices(call.db, call.service.dev)
    .innerJoin('appointments as a', (join) =>
      join.onRef('a.org_id', '=', 'd.org_id').onRef('a.user_id', '=', 'd.user_id'),
    )
    .where('d.org_id', '=', orgId)
    .where('m.role', 'in', adminRoles)
    .select(['d.id as device_id', 'd.user_id'])
    .orderBy('a.appointed_at')
    .orderBy('d.id')
    .limit(mostFollowed)
    .execute()
  const relationTo = relationsTo(call, namedKeyOf(call.caller))
  const found = new Set<number>()
  for (const device of devices) {
    if (found.size >= most) break
    const { relation } = await relationTo({ administrator: { org_id: orgId, ...device } })
    if (isSeparated(relation)) found.add(device.user_id)
  }
  return [...found]
}

/** The administrator who signed in on the calling terminal, if nobody but the operator is behind their device and their role. */
const ownAdministrator = async (call: Call, org_id: number): Promise<number[]> => {
  const { signedInWith: device_id, ownerId: user_id } = call.caller
  if (device_id === undefined || user_id === undefined) return []
  if (!(await isAdministrator(call.db, { org_id, user_id }))) return []
  const roots = await findRoots(call, { administrator: { org_id, user_id, device_id } })
  return roots?.every(isOperatorKey) ? [user_id] : []
}

const peopleIn = (lines: readonly RequiredLine[]): Set<number> =>
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

const nobody = (): Refusal =>
  conflict(
    'not_enough_approvers',
    'Too few people can approve this change: it needs an administrator whom neither this key nor one of the same creator appointed or enrolled and, for a group or a rule that exists, the people whom it asks',
    'Nobody was notified. Ask the operator of the service to make the change',
  )

/**
 * `endsNew`: also the yes of the administrator who signed in on the terminal that calls, so that whoever finds a new rule can
 * end it when all others are behind it. `beside`: the other lines of the request.
 */
const administratorLine = async (
  call: Call,
  { orgId, endsNew, beside }: { orgId: number; endsNew: boolean; beside: readonly RequiredLine[] },
): Promise<RequiredLine> => {
  const mine = endsNew ? await ownAdministrator(call, orgId) : []
  const room = mostAsked - peopleIn(beside).size - mine.length
  const members = new Set([...mine, ...(await separatedAdministrators(call, orgId, room))])
  return { members: [...members], need: 1, group: null, rules: [], separated: mine.length === 0 }
}

/** A change of rules or groups. `book` is what it changes, as it was before. */
type Change = {
  book: Book
  /** Rules that the change makes weaker. */
  weakened?: readonly Rule[]
  /** The group that the change is about. */
  group?: Group
  /** Who is taken out of the group, and has no say. */
  leaving?: readonly number[]
  /** Whether the change only deletes a new rule. */
  endsNew?: boolean
}

/** The rules that ask a group, also in an emergency: who joins it can then approve without the others. */
export const rulesOfGroup = ({ rules }: Pick<Book, 'rules'>, name: string): Rule[] =>
  rules
    .map(({ rule }) => rule)
    .filter(({ who, break_glass = '' }) =>
      [...who, break_glass].some((text) => text.split(':')[0] === `@${name}`),
    )

/**
 * Demands the yes of one administrator and of everybody whom the weakened rules ask; for a group that no rule asks, of one of
 * its members. The operator is the root of trust and needs none.
 */
export const demandForChange = async (
  call: Call,
  orgId: number,
  { book, weakened = [], group, leaving = [], endsNew = false }: Change,
): Promise<void> => {
  if (isOperator(call.caller)) return
  const concerned = new Set([...weakened, ...(group ? rulesOfGroup(book, group.name) : [])])
  const { lines: ruled, rules } = requirementOf(orgId, book, { weakened: [...concerned] })
  const own: RequiredLine[] =
    group && concerned.size === 0
      ? [
          {
            members: group.members,
            need: 1,
            group: { id: group.id, name: group.name },
            rules: [],
            separated: true,
          },
        ]
      : []
  const withoutLeaving = (line: RequiredLine): RequiredLine =>
    line.group?.id === group?.id
      ? { ...line, members: line.members.filter((id) => !leaving.includes(id)) }
      : line
  const staying = [...ruled, ...own].map(withoutLeaving)
  const requirement: Requirement = {
    orgId,
    lines: [...staying, await administratorLine(call, { orgId, endsNew, beside: staying })],
    rules,
    holding: [],
  }
  if (!(await isCompletable(call, requirement))) throw nobody()
  call.demandApproval(requirement)
}

/** Whether the people of all lines who can be asked now suffice; `without`: also if this person asks. */
const isCompletable = async (
  call: Call,
  { orgId, lines }: Pick<Requirement, 'orgId' | 'lines'>,
  { alsoWithoutAny = false } = {},
): Promise<boolean> => {
  const members = lines.flatMap((line) => line.members)
  const awake = [...(await awakeAmong(call, orgId, members))]
  const people = mergedLines(lines).map(({ members: of, need }) => ({ people: of.map(String), need }))
  const suffice = (asker?: number): boolean => {
    const yeses = awake.filter((id) => id !== asker).map((id) => ({ id: String(id), counts: () => true }))
    return assign(people, yeses) !== undefined
  }
  return alsoWithoutAny ? awake.length > 0 && awake.every((asker) => suffice(asker)) : suffice()
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
  }
}

/** Notifies everybody concerned, whoever made the change: who is or was asked, and the administrators. */
export const notifyChange = async (
  call: Call,
  org_id: number,
  { what, members }: { what: string; members: readonly number[] },
): Promise<void> => {
  const { slug } = await organizationRow(call.db, org_id)
  const admins = await administrators(call.db, org_id).select('m.user_id').execute()
  const people = new Set([...members, ...admins.map(({ user_id }) => user_id)])
  for (const user_id of people)
    await notifyMember(
      call,
      { org_id, user_id },
      {
        about: 'group',
        subject: 'Who approves requests changed',
        text: `${what} of ${slug} decides who must approve requests, and it was created, changed or deleted. The audit log shows what was done: svc audit list --org ${slug}. If this was not agreed, tell your administrator.`,
      },
    )
}
