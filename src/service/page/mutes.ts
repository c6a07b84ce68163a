import { forbidden, notFound } from '../../core/refusal.ts'
import { liftMute, muteIdOf, readMutes } from '../approvals/mutes.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { isOperator, namedKeyOf, requirePerson, type SignedIn } from '../call/caller.ts'
import { type Member, reachOrganization } from '../call/tenant.ts'
import { isOfSame, within } from '../keys/ancestry.ts'
import { readPeople, requireAdmin } from './members.ts'
import type { Signed } from './challenge.ts'
import { challengeFor, signs } from './proof.ts'

const bearer = 'tool server token'

/** The mutes of an approver, or of every approver of an organization. */
const shownMutes = async (call: Call, of: { org_id: number; user_id?: number }) => {
  const rows = await readMutes(call.db, of, call.now)
  const ids = rows.map(({ key_id }) => key_id)
  const keys = await call.db
    .selectFrom('api_keys')
    .where('id', 'in', ids.length > 0 ? ids : [0])
    .select(['id', 'name'])
    .execute()
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return rows.map(({ org_id, user_id, key_id, agent, until }) => ({
    mute_id: muteIdOf({ key_id, agent }),
    org_id,
    user_id,
    key_id,
    credential: names.get(key_id) ?? bearer,
    requester: agent === '' ? null : agent,
    until,
  }))
}

const lift = async (call: Call, member: Member, mute_id: string): Promise<void> => {
  const lifted = await liftMute(call, member, mute_id)
  if (!lifted) throw notFound('Mute')
  await call.audit(member.org_id, `user:${member.user_id}`, ['mutes', `key:${lifted.key_id}`])
}

export const listMutes: HandlerOf<'listMutes'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  return shownMutes(call, { org_id })
}

export const deleteMute: HandlerOf<'deleteMute'> = async ({ org_id, user_id, mute_id }, call) => {
  await reachOrganization(call, org_id)
  const { caller } = call
  const muted = Number(mute_id.split('-')[0])
  if (!isOperator(caller) && (await isOfSame(within(call, org_id), muted, namedKeyOf(caller))))
    throw forbidden('own_mute', 'A key cannot delete the mute that applies to itself', 'Use another key')
  await lift(call, { org_id, user_id }, mute_id)
}

export const listOwnMutes: HandlerOf<'listOwnMutes'> = async (_, call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  return { mutes: await shownMutes(call, { org_id, user_id }) }
}

export const listOrganizationMutes: HandlerOf<'listOrganizationMutes'> = async (_, call) => {
  const { org_id } = await requireAdmin(call)
  const all = await shownMutes(call, { org_id })
  const ids = all.map(({ user_id }) => user_id)
  const members = await readPeople(call, org_id, ids)
  return {
    mutes: all.flatMap((mute) => {
      const member = members.get(mute.user_id)
      return member ? [{ ...mute, member }] : []
    }),
  }
}

type Target = { mute_id: string; user_id?: number | undefined }

const asks = ({ mute_id, user_id }: Target, person: SignedIn): Signed => ({
  type: 'unmute',
  user_id: user_id ?? person.user_id,
  mute_id,
})

export const beginUnmute: HandlerOf<'beginUnmute'> = challengeFor(asks)

export const unmute: HandlerOf<'unmute'> = signs(
  asks,
  async (call, { mute_id, user_id }, { person, settle }) => {
    const whose = user_id ?? person.user_id
    if (whose !== person.user_id) await requireAdmin(call)
    await settle(call)
    await lift(call, { org_id: person.org_id, user_id: whose }, mute_id)
    return undefined
  },
)
