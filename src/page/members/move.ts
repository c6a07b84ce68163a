import { call, Refused, type Member, type Moved, type Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { callHeld } from '../shell/held.ts'
import { assert } from '../calls/webauthn.ts'

export type MemberMove = 'accept' | 'reject' | 'hold' | 'promote' | 'link'

const done = {
  accept: 'members.accepted',
  reject: 'members.rejected',
  hold: 'members.held',
  promote: 'members.promoted',
  link: 'members.linked',
} as const

/** The refusal that says that an earlier tap was carried out although its answer was lost. */
const already: Partial<Record<MemberMove, string>> = {
  accept: 'user_active',
  reject: 'user_rejected',
  hold: 'user_pending',
  promote: 'user_admin',
}

/** Whether a member gets the link that registers their phone, or what an administrator must do instead. */
const linkSaid = ({ enrollment }: Moved): string | undefined => {
  if (!enrollment) return undefined
  const { channel, next } = enrollment
  if (!channel) return t('refused.link_not_sent', { next: next ?? '' })
  return t('members.linkSent', { channel: channel === 'push' ? 'other' : channel })
}

/** Changes a member; this device signs it. Returns what to say about it. */
export const moveMember = async (
  { org_id: org, rp_id, credential_id }: Session,
  member: Member,
  move: MemberMove,
): Promise<(Node | string)[]> => {
  const { user_id } = member
  const said = nodes(done[move], { name: exactText(nameOf(member)) })
  try {
    const { challenge } = await call('beginMemberMove', { user_id, move }, { org })
    const response = await assert(rp_id, challenge, credential_id)
    const link = linkSaid(await callHeld('moveMember', { user_id, move, challenge, response }, { org }))
    return link === undefined ? [said] : [said, ' ', link]
  } catch (error) {
    if (error instanceof Refused && error.code === already[move]) return [said]
    throw error
  }
}
