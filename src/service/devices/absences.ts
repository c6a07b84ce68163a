import { addMs, dayMs } from '../../core/iso-time.ts'
import { forbidden, invalid, notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requireTerminal } from '../call/caller.ts'
import type { RowInput } from '../call/row-ids.ts'
import { type Member, membersAmong, ofMember, reachOrganization } from '../call/tenant.ts'
import { isAdministrator } from './administrators.ts'
import { nameOf, noticeTime, notifyMember } from './notices.ts'
import { demandConsent } from '../keys/keys.ts'

// Every statement on `absences` is here.

/** Half-open: away at `from`, back at `until`. */
type Away = { from: string; until: string }

export type WantedAway = Pick<RowInput<'setAway'>, 'from' | 'until' | 'end'>

const mostDays = { own: 30, ofOthers: 3 }

/**
 * The absences of these users that have not ended. One that another program changed counts as none: it must not choose who is
 * asked.
 */
export const readAbsences = async (
  { db, keyring, now }: Pick<Call, 'db' | 'keyring' | 'now'>,
  org_id: number,
  users: readonly number[],
): Promise<ReadonlyMap<number, Away>> => {
  if (users.length === 0) return new Map()
  const rows = await db
    .selectFrom('absences')
    .where('org_id', '=', org_id)
    .where('user_id', 'in', [...new Set(users)])
    .where('ends_at', '>', now)
    .selectAll()
    .execute()
  return new Map(
    rows
      .filter((row) => keyring.holds('absences', row))
      .map(({ user_id, starts_at, ends_at }) => [user_id, { from: starts_at, until: ends_at }]),
  )
}

/** Which of these users are away now, and until when. */
export const awayAmong = async (
  call: Pick<Call, 'db' | 'keyring' | 'now'>,
  org_id: number,
  users: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  const all = await readAbsences(call, org_id, users)
  return new Map([...all].flatMap(([id, { from, until }]) => (from <= call.now ? [[id, until]] : [])))
}

/** Throws 422 for an interval that is over, is none, or is too long. A day that has begun starts now. */
const readInterval = ({ now }: Call, { from, until }: WantedAway, most: number): Away => {
  if (until === undefined) throw invalid('until', 'is required unless end is set')
  const [start, end] = [from ?? now, until].map((text) => new Date(text).toISOString()) as [string, string]
  const begin = start < now ? now : start
  if (end <= now) throw invalid('until', `must be in the future, not ${end}`)
  if (end <= begin) throw invalid('until', `must be after from (${begin}), not ${end}`)
  const latest = addMs(begin, most * dayMs)
  if (end > latest)
    throw invalid(
      'until',
      `must be at most ${most} days after the absence begins${most === mostDays.own ? '' : ', because it is that of somebody else'}: ${latest} or earlier, not ${end}`,
    )
  return { from: begin, until: end }
}

/** Sets or ends the absence of an active member, in place of the one before. `by`: who signed it. A person learns what others set. */
export const changeAbsence = async (call: Call, member: Member, wanted: WantedAway, by: Member) => {
  const { db, keyring } = call
  const isOwn = member.user_id === by.user_id
  if ((await membersAmong(db, member.org_id, [member.user_id], ['active'])).length === 0)
    throw notFound('User', 'List the active users: svc user list --state active')
  if (wanted.end && (wanted.from ?? wanted.until) !== undefined)
    throw invalid('end', 'cannot be combined with from or until')
  const away = wanted.end ? null : readInterval(call, wanted, isOwn ? mostDays.own : mostDays.ofOthers)
  await db.deleteFrom('absences').where(ofMember(member)).execute()
  if (away) {
    const { org_id, user_id } = member
    const row = { org_id, user_id, starts_at: away.from, ends_at: away.until }
    const row_mac = keyring.macOf('absences', row)
    await db
      .insertInto('absences')
      .values({ ...row, row_mac })
      .execute()
  }
  await call.audit(member.org_id, `user:${member.user_id}`, ['away'])
  call.wake({ org_id: member.org_id, users: [member.user_id] })
  if (!isOwn) {
    const what = away
      ? `set that you are away from ${noticeTime(away.from)} until ${noticeTime(away.until)}. Until then, your groups notify you only if too few others are there, but you can answer their requests`
      : 'ended your absence, so requests ask you again'
    await notifyMember(call, member, {
      about: 'group',
      subject: away ? 'You are marked as away' : 'You are not marked as away any more',
      text: `The administrator ${await nameOf(db, by)} ${what}. To change it, open ${call.service.publicUrl}/approver#away`,
    })
  }
  return { user_id: member.user_id, away }
}

/** Only a person says when they are away: whoever has a key could otherwise choose who is asked. */
export const setAway: HandlerOf<'setAway'> = async ({ org_id, user_id, ...wanted }, call) => {
  if (org_id !== undefined) await reachOrganization(call, org_id)
  const by = requireTerminal(
    call.caller,
    'set when they are away',
    'Sign in: svc profile login. Or set it on the approver page',
  )
  const member = { ...by, user_id: user_id ?? by.user_id }
  if (member.user_id !== by.user_id && !(await isAdministrator(call.db, by)))
    throw forbidden(
      'admin_only',
      `Only an administrator can set when somebody else is away (user ${member.user_id})`,
      'Leave out --user to set when you are away',
    )
  const changed = await changeAbsence(call, member, wanted, by)
  demandConsent(call, by.org_id)
  return changed
}
