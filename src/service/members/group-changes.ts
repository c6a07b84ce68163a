import { conflict, type Refusal } from '../../core/refusal.ts'
import { assign } from '../../core/assignment.ts'
import type { Call, RequiredLine } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { organizationRow } from '../call/tenant.ts'
import { administrators } from '../devices/administrators.ts'
import { activeDevices } from '../devices/active.ts'
import { notifyMember } from '../devices/notices.ts'
import { findRelation, isSeparated } from '../devices/origin.ts'
import { awakeAmong } from '../devices/seats.ts'
import type { Group } from '../policy/group-rows.ts'

// A group decides who approves, so people sign each change of it on their phones.

const readAdministrators = async ({ db }: Call, orgId: number): Promise<number[]> =>
  (await administrators(db, orgId).select('m.user_id').orderBy('m.user_id').execute()).map(
    ({ user_id }) => user_id,
  )

/**
 * Administrators whom neither the calling key nor a key of the same creator appointed or enrolled: with two such keys, one
 * person could ask and answer.
 */
const separatedAdministrators = async (call: Call, orgId: number): Promise<number[]> => {
  const found = new Set<number>()
  for (const user_id of await readAdministrators(call, orgId)) {
    const devices = await activeDevices(call.db, call.service.dev)
      .where('d.org_id', '=', orgId)
      .where('d.user_id', '=', user_id)
      .select('d.id')
      .execute()
    for (const { id: device_id } of devices) {
      const administrator = { org_id: orgId, user_id, device_id }
      const { relation } = await findRelation(call, namedKeyOf(call.caller), { administrator })
      if (isSeparated(relation)) found.add(user_id)
    }
  }
  return [...found]
}

const nobody = (): Refusal =>
  conflict(
    'not_enough_approvers',
    'Too few people can approve this change: it needs an administrator whom neither this key nor one of the same creator appointed or enrolled and, for a group that exists, another person who is one of its members',
    'Nobody was notified. Ask the operator of the service to make the change',
  )

const lineOf = (members: number[], group: RequiredLine['group']): RequiredLine => ({
  members,
  need: 1,
  group,
  rules: [],
  separated: true,
})

/**
 * Demands the yes of one administrator, and of one member of the group as it was. Whoever is taken out has no say. The
 * operator is the root of trust and needs none.
 */
export const demandForGroup = async (
  call: Call,
  org_id: number,
  { before, leaving = [] }: { before?: Group; leaving?: readonly number[] } = {},
): Promise<void> => {
  if (isOperator(call.caller)) return
  const lines = [lineOf(await separatedAdministrators(call, org_id), null)]
  if (before) {
    const members = before.members.filter((id) => !leaving.includes(id))
    lines.unshift(lineOf(members, { id: before.id, name: before.name }))
  }
  const awake = await awakeAmong(
    call,
    org_id,
    lines.flatMap(({ members }) => members),
  )
  const yeses = [...awake].map((id) => ({ id: String(id), counts: () => true }))
  const people = lines.map(({ members, need }) => ({ people: members.map(String), need }))
  if (!assign(people, yeses)) throw nobody()
  call.demandApproval({ orgId: org_id, lines, rules: [] })
}

/** Notifies everybody concerned, whoever made the change: who is or was in the group, and the administrators. */
export const notifyGroup = async (
  call: Call,
  { org_id, name }: Pick<Group, 'org_id' | 'name'>,
  members: readonly number[],
): Promise<void> => {
  const { slug } = await organizationRow(call.db, org_id)
  const people = new Set([...members, ...(await readAdministrators(call, org_id))])
  for (const user_id of people)
    await notifyMember(
      call,
      { org_id, user_id },
      {
        about: 'group',
        subject: 'A group of approvers changed',
        text: `The group ${name} of ${slug} decides who can approve requests, and it was created, changed or deleted. The audit log shows what was done: svc audit list --org ${slug}. If this was not agreed, tell your administrator.`,
      },
    )
}
