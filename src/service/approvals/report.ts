import { conflict, notFound, Refusal } from '../../core/refusal.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Call } from '../call/call.ts'
import { type Member, ofMember, organizationRow } from '../call/tenant.ts'
import { nameOf, notifyAdministrators } from '../devices/notices.ts'
import { endGrants } from './grants.ts'
import { endedByReport } from './expiry.ts'
import { wakeOf } from './lines.ts'
import { isMuted, mute, muteIdOf, muteMs, readMutes, requesterOf } from './mutes.ts'
import { findBallot } from './ballots.ts'
import { type ApprovalRow, endPending, sealedChanges, updateApproval } from './rows.ts'
import { auditSubject, findApproval } from './record.ts'

/** The end of the detail of a request that its approver reported. */
export const unexpected = 'the approver did not expect this request'

/** A request and the person who denied it. */
type Reported = ApprovalRow & { user_id: number }

/**
 * Ends the requests of muted requesters to this approver that are still pending, also for the others whom they ask. Returns how
 * many.
 */
const endMuted = async (call: Call, reported: Reported, actor: string): Promise<number> => {
  const { db, now } = call
  const mutes = await readMutes(db, reported, now)
  const pending = await db
    .selectFrom('approvals as a')
    .innerJoin('ballots as b', 'b.request_id', 'a.request_id')
    .where(ofMember(reported, 'b'))
    .where('a.status', '=', 'pending')
    .where('a.expires_at', '>', now)
    .where('a.asked_by', '=', reported.asked_by)
    .selectAll('a')
    .orderBy('a.id')
    .execute()
  let count = 0
  for (const row of pending.filter((one) => isMuted(mutes, one))) {
    const ended = await endPending(call, row, { status: 'expired', detail: endedByReport, ended_at: now })
      .returning('id')
      .executeTakeFirst()
    if (!ended) continue
    await call.audit(row.org_id, auditSubject(row.request_id), ['status', 'withdrawn', 'not_me'], actor)
    call.wake(wakeOf(row))
    count += 1
  }
  return count
}

const countText = (count: number): string =>
  count === 0 ? '' : ` ${count} other pending ${count === 1 ? 'request' : 'requests'} of the requester ended.`

/**
 * Ends what the requester was allowed earlier. While another program has changed the groups, that is not possible, and the denial
 * and the rest of the report must not be lost for it: returns what to say.
 */
const endGrantsOf = async (
  call: Call,
  { org_id, asked_by }: Pick<Reported, 'org_id' | 'asked_by'>,
  actor: string,
): Promise<Refusal | undefined> => {
  try {
    await endGrants(call, org_id, (one) => one.asked_by === asked_by, actor)
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'groups_altered')) throw error
    return conflict(
      'grants_not_ended',
      'The request is denied. What its requester was allowed earlier has not ended: another program has changed the groups in the store',
      'Report the request again once the operator has restored them, or revoke the key of the requester',
    )
  }
}

/**
 * "This wasn't me": mutes the requester of a request that was denied, ends its other requests to this approver, and tells
 * the administrators. The message contains nothing that the request says. Returns what could not be done.
 */
export const reportRequester = async (
  call: Call,
  row: Reported,
  actor: string,
): Promise<Refusal | undefined> => {
  const { org_id, user_id, asked_by, request_id } = row
  const requester = requesterOf(row)
  await mute(call, row, requester)
  const ended = await endMuted(call, row, actor)
  const kept = await endGrantsOf(call, row, actor)
  const { slug } = await organizationRow(call.db, org_id)
  const name = row.key_name === null ? '' : ` ${JSON.stringify(safeLine(row.key_name))}`
  const who =
    asked_by === 0 ? 'a program with the token of the tool server' : `the key${name} (key ${asked_by})`
  await notifyAdministrators(call, row, {
    about: 'report',
    subject: 'An approval request was reported',
    text: [
      `${await nameOf(call.db, row)} denied a request and reported it as unexpected. It was made with ${who}.`,
      `The requester cannot ask this person for ${muteMs / 60_000} minutes.${countText(ended)}`,
      `Show the request: svc approve status ${request_id}`,
      `Let the requester ask again: svc approve mutes delete ${user_id} ${muteIdOf(requester)} --org ${slug}`,
    ].join('\n'),
  })
  return kept
}

/** Reports a request that this person has denied before; once, however often it is repeated. Returns the id of the mute, or what could not be done. */
export const reportDenied = async (
  call: Call,
  { org_id, user_id }: Member,
  request_id: string,
  actor: string,
): Promise<string | Refusal> => {
  const { db } = call
  const row = await findApproval(db, request_id, { orgId: org_id })
  const { status } = await findBallot(db, row, user_id)
  if (row.status !== 'denied' || status !== 'denied' || row.decided_by !== user_id)
    throw notFound('Approval request that you denied')
  const isRepeat = row.detail?.endsWith(unexpected) === true
  await call.audit(org_id, auditSubject(request_id), [isRepeat ? 'repeated' : 'not_me'], actor)
  if (!isRepeat) {
    const detail = row.detail === null ? unexpected : `${row.detail}; ${unexpected}`
    await updateApproval(db, row)
      .set(sealedChanges(call, row, { detail }))
      .execute()
  }
  const kept = isRepeat
    ? await endGrantsOf(call, row, actor)
    : await reportRequester(call, { ...row, user_id }, actor)
  return kept ?? muteIdOf(requesterOf(row))
}
