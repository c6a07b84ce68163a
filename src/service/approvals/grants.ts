import { addMs } from '../../core/iso-time.ts'
import { conflict, invalid } from '../../core/refusal.ts'
import type { GrantTerms } from '../../receipt/context.ts'
import type { Call } from '../call/call.ts'
import { readGrants, writeGrants } from '../policy/group-rows.ts'
import type { StoredGrant } from '../policy/known-heads.ts'
import { endedByGrant } from './expiry.ts'
import type { VerifiedDecision } from './answer.ts'
import type { Pool } from './pool.ts'
import { auditSubject } from './record.ts'
import type { ApprovalRow } from './rows.ts'

// An approver can allow what they approve again for a while, where every rule that holds the request says so. The live grants of
// an organization are under the MAC of its rules, so that none that ended or was used can be put back.

/** Of an organization. Each use writes all of them. */
const mostGrants = 100

type Asked = Pick<Pool, 'lines'> & { key_id: number; number: string | null; factors: readonly string[] }

/**
 * What the approver of a request can grant: nothing unless only rules ask, and one person, without anything that has to be checked
 * each time. The tool server's token is of no single agent.
 */
export const grantableTerms = (
  terms: GrantTerms | undefined,
  { key_id, lines, number, factors }: Asked,
): GrantTerms | undefined => {
  const [line, ...others] = lines
  const isOne = line?.need === 1 && line.rules.length > 0 && others.length === 0 && key_id !== 0
  return isOne && number === null && factors.every((one) => one === 'biometric') ? terms : undefined
}

export const readTerms = ({ grant_terms }: Pick<ApprovalRow, 'grant_terms'>): GrantTerms | undefined =>
  grant_terms === null ? undefined : (JSON.parse(grant_terms) as GrantTerms)

/** The field `grant` of a request that offers one; no field otherwise. */
export const grantOffer = (row: ApprovalRow): { grant?: GrantTerms } => {
  const grant = readTerms(row)
  return grant ? { grant } : {}
}

/** What a decision grants. Fails with 422 if it grants what the request does not offer. */
export const termsGranted = (
  row: ApprovalRow,
  { decision, grant }: { decision: string; grant?: true | undefined },
): GrantTerms | undefined => {
  if (!grant) return undefined
  if (decision !== 'approve')
    throw invalid('grant', 'can only be combined with decision approve', 'leave grant out')
  const terms = readTerms(row)
  if (terms) return terms
  throw invalid(
    'grant',
    'is not possible: this request offers none',
    'leave grant out; its rules allow none, or each approval is checked against a place, a time, a network or a number',
  )
}

/** Adds the grant of a decision that was counted. Returns when it ends. Fails with 409 if there are too many. */
export const addGrant = async (call: Call, decision: VerifiedDecision): Promise<string> => {
  const { row, ballot, device, decidedAt } = decision
  const { seconds, uses } = readTerms(row)!
  const live = await readGrants(call, row.org_id)
  if (live.length >= mostGrants)
    throw conflict(
      'too_many_grants',
      `The organization has ${mostGrants} grants, which is the limit`,
      'Approve once, or end others: svc grant list',
    )
  const ends_at = addMs(decidedAt, seconds * 1000)
  const { request_id, key_id, asked_by } = row
  const { user_id } = ballot
  const added = { request_id, key_id, asked_by, user_id, device_id: device.id, ends_at, uses, used: 0 }
  await writeGrants(call, row.org_id, [...live, added])
  return ends_at
}

/** Ends the live grants that fit, with their approvals that were not used yet. Returns those that ended. */
export const endGrants = async (
  call: Call,
  orgId: number,
  isEnded: (grant: StoredGrant) => boolean,
  actor?: string,
): Promise<StoredGrant[]> => {
  const { db, now } = call
  const live = await readGrants(call, orgId)
  const ended = live.filter(isEnded)
  if (ended.length === 0) return []
  await writeGrants(
    call,
    orgId,
    live.filter((one) => !ended.includes(one)),
  )
  const ids = ended.map(({ request_id }) => request_id)
  await db
    .updateTable('approvals')
    .set({ granted_until: now })
    .where('org_id', '=', orgId)
    .where('request_id', 'in', ids)
    .execute()
  await db
    .updateTable('approvals')
    .set({ status: 'expired', detail: endedByGrant, ended_at: now, row_mac: null })
    .where('org_id', '=', orgId)
    .where('granted_by', 'in', ids)
    .where('status', '=', 'approved')
    .where('used_at', 'is', null)
    .execute()
  for (const id of ids) await call.audit(orgId, auditSubject(id), ['granted_until'], actor)
  return ended
}
