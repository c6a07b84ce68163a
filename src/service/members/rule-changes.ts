import { conflict, type Refusal } from '../../core/refusal.ts'
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
import { within } from '../keys/ancestry.ts'
import { isOperatorKey } from '../keys/scopes.ts'
import type { Book, Group } from '../policy/group-rows.ts'
import { mergedLines, peopleIn, requirementOf } from '../policy/rules.ts'
import { isCompletable, rulesOfGroup } from './rule-completable.ts'

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
  const relationTo = relationsTo(within(call, orgId), namedKeyOf(call.caller))
  const found = new Set<number>()
  for (const device of devices) {
    if (found.size >= most) break
    if (found.has(device.user_id)) continue
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
  const roots = await findRoots(within(call, org_id), { administrator: { org_id, user_id, device_id } })
  return roots?.every(isOperatorKey) ? [user_id] : []
}

const nobody = (): Refusal =>
  conflict(
    'not_enough_approvers',
    'Too few people can approve this change: it needs an administrator who is independent of this key and, for a group or a rule that exists, the people whom it asks',
    'Nobody was notified. Independent is who was not appointed or enrolled by this key, by one of the same creator, or by its person. The operator of the service makes the change, or appoints one more administrator: svc user make-admin ID',
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

/** A change of rules or groups. */
export type Change = {
  /** Rules that the change makes weaker. */
  weakened?: readonly Rule[]
  /** The group that the change is about. */
  group?: Group
  /** Who is taken out of the group, and has no say. */
  leaving?: readonly number[]
  /** Whether the change only deletes a new rule. */
  endsNew?: boolean
}

/** The lines of everybody whom the weakened rules ask; for a group that no rule asks, of its members. */
const linesOfChange = (orgId: number, book: Book, { weakened = [], group, leaving = [] }: Change) => {
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
  return { lines: [...ruled, ...own].map(withoutLeaving), rules }
}

/**
 * Demands the yes of one administrator for all changes of a call, and of everybody whom they concern. `book`: what there was
 * before. The operator is the root of trust and needs none.
 */
export const demandForChanges = async (
  call: Call,
  orgId: number,
  book: Book,
  changes: readonly Change[],
): Promise<void> => {
  if (isOperator(call.caller)) return
  const concerned = changes.map((change) => linesOfChange(orgId, book, change))
  const lines = mergedLines(concerned.flatMap((one) => one.lines))
  const endsNew = changes.every((change) => change.endsNew)
  const requirement: Requirement = {
    orgId,
    lines: [...lines, await administratorLine(call, { orgId, endsNew, beside: lines })],
    rules: concerned.flatMap(({ rules }) => rules),
    holding: [],
  }
  if (!(await isCompletable(call, requirement))) throw nobody()
  call.demandApproval(requirement)
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
