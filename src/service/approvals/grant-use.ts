import { addMs } from '../../core/iso-time.ts'
import { conflict } from '../../core/refusal.ts'
import type { Receipt } from '../../receipt/claims.ts'
import { createUse, type GrantedReceipt } from '../../receipt/grant-use.ts'
import { isGranted } from '../../receipt/granted.ts'
import type { ReceiptSet } from '../../receipt/set.ts'
import type { Subject } from '../../receipt/subject.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import { latestTime } from '../call/audit.ts'
import type { Call } from '../call/call.ts'
import { countedDevices, ofActiveDevice } from '../devices/active.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import { readGrants, writeGrants } from '../policy/group-rows.ts'
import type { StoredGrant } from '../policy/known-heads.ts'
import { type CoveredRow, newRow } from '../storage/schema.ts'
import { askAgain } from './ask-again.ts'
import { tellUseAt } from './grant-notices.ts'
import { readTerms } from './grants.ts'
import { findBallot } from './ballots.ts'
import { readLines, readRules, withAnswer } from './lines.ts'
import { auditSubject, isApproved, signedKey, storedSubject } from './record.ts'
import type { ApprovalRow, BallotRow } from './rows.ts'

// A request that somebody granted before is approved at once, and nobody is notified.

/** A request as it would be stored. */
type NewRequest = CoveredRow<'approvals'> & { remind_at: string | null }

type Granter = { org_id: number; user_id: number; device_id: number | null }

/** Whether whoever granted something still has the device with which they did. */
const hasDevice = async (call: Call, { org_id, user_id, device_id }: Granter): Promise<boolean> => {
  const device = await countedDevices(call, { org_id, user_id })
    .where('id', '=', device_id)
    .where(ofActiveDevice('devices'))
    .executeTakeFirst()
  return device !== undefined && isAuthenticDevice(call, device)
}

/** Refuses to use an approval that nobody saw once its grant has ended: with any change of rules or groups, too. */
export const requireGranter = async (call: Call, { granted_by, org_id }: ApprovalRow): Promise<void> => {
  if (granted_by === null) return
  const grant = (await readGrants(call, org_id)).find(({ request_id }) => request_id === granted_by)
  if (grant && (await hasDevice(call, { org_id, ...grant }))) return
  throw conflict('grant_over', 'The grant under which this was approved has ended', askAgain)
}

/** Whether nobody reads other words for it, in a list or a receipt, than those of the service or of what was granted. */
const saysTheSame = (granting: ApprovalRow, asked: NewRequest, subject: Subject): boolean =>
  asked.requester === granting.requester && [granting.action, summaryOf(subject)].includes(asked.action)

/** Whether the granting request still holds for the new one: as it was signed, and by somebody who is asked. */
const covers = async (
  call: Call,
  granting: ApprovalRow,
  grant: StoredGrant,
  asked: NewRequest,
): Promise<boolean> => {
  const [before, now] = [storedSubject(granting), storedSubject(asked)]
  const terms = readTerms(granting)
  if (!before || !now || !terms || !isApproved(granting, call)) return false
  const isAsked = readLines(asked)[0]!.people.some(({ user_id }) => user_id === grant.user_id)
  if (!isAsked || !isGranted(before, terms.free, now) || !saysTheSame(granting, asked, now)) return false
  return hasDevice(call, { org_id: asked.org_id, ...grant })
}

/** A grant of the same key, given under the same rules. */
const findGrant = async (call: Call, live: readonly StoredGrant[], asked: NewRequest) => {
  const own = live.filter(({ key_id, used, uses }) => key_id === asked.key_id && used < uses)
  if (own.length === 0) return undefined
  const ids = own.map(({ request_id }) => request_id)
  const rows = await call.db
    .selectFrom('approvals')
    .where('request_id', 'in', ids)
    .where('org_id', '=', asked.org_id)
    .where('rules', '=', asked.rules)
    .where('subject_type', '=', asked.subject_type)
    .selectAll()
    .execute()
  for (const grant of own) {
    const granting = rows.find(({ request_id }) => request_id === grant.request_id)
    if (granting && (await covers(call, granting, grant, asked))) return { grant, granting }
  }
  return undefined
}

/** The receipt of the person who granted it. */
const receiptOf = ({ attestation }: ApprovalRow): Receipt => {
  const found = JSON.parse(attestation!) as Receipt | ReceiptSet
  return found.format === 'set' ? found.receipts[0]! : found
}

const proofOf = (
  call: Call,
  asked: NewRequest,
  granting: ApprovalRow,
  use: number,
): Promise<GrantedReceipt> => {
  const { service, keyring, now, db } = call
  const claims = {
    iss: service.publicUrl,
    iat: Math.floor(Date.parse(now) / 1000),
    jti: asked.request_id,
    aud: asked.requester,
    action: asked.action,
    reason: asked.reason,
    organization: { id: String(asked.org_id), slug: asked.org_slug },
    key: signedKey(asked),
    rules: readRules(asked),
    subject: { ...storedSubject(asked)!, digest: asked.subject_digest },
    use,
  }
  return createUse(claims, receiptOf(granting), (signed, typ) => keyring.sign(signed, typ, db))
}

/** Puts it into the history of whoever granted it, and among what is erased with them. */
const addBallot = async ({ db, now, keyring }: Call, row: ApprovalRow, granting: BallotRow) => {
  const { id: _, row_mac: __, number_tries: ___, ...same } = granting
  const { request_id, requested_at } = row
  const values = {
    ...same,
    request_id,
    requested_at,
    decided_at: now,
    attestation: null,
    decision_digest: null,
    first_asked_by: null,
  }
  const row_mac = keyring.macOf('ballots', values)
  await db
    .insertInto('ballots')
    .values({ ...values, row_mac })
    .execute()
}

/**
 * Approves a request under a live grant of the same key, which it uses once. Undefined if there is none. The number of the use is
 * unique in the store, so that an older state of the grants gives no use back.
 */
export const useGrant = async (call: Call, asked: NewRequest): Promise<ApprovalRow | undefined> => {
  const { now, db, keyring } = call
  const lastAt = latestTime(call, asked.org_id)
  const live = (await readGrants(call, asked.org_id)).filter(({ ends_at }) => ends_at > lastAt)
  const found = await findGrant(call, live, asked)
  if (!found) return undefined
  const { grant, granting } = found
  const use = grant.used + 1
  const ballot = await findBallot(db, granting, grant.user_id)
  if (!keyring.holds('ballots', ballot)) return undefined
  const [line] = readLines(asked)
  const people = line!.people.filter(({ user_id }) => user_id === grant.user_id)
  const others = live.filter((one) => one !== grant)
  // Also after the last use: whoever ends the grant ends what was not done under it yet.
  await writeGrants(call, asked.org_id, [...others, { ...grant, used: use }])
  const values = newRow('approvals', {
    ...asked,
    lines: JSON.stringify([{ ...line, people }]),
    approver_mobile: ballot.mobile,
    answers: withAnswer({ answers: null }, [grant.user_id, 'approved', ballot.decided_at!]),
    status: 'approved' as const,
    detail: `use ${use} of ${grant.uses}, which nobody saw, approved with ${grant.request_id}`,
    grant_terms: null,
    remind_at: tellUseAt(now),
    granted_by: grant.request_id,
    grant_use: use,
    decided_at: now,
    ended_at: now,
    decided_by: grant.user_id,
    use_by: [addMs(now, asked.use_within_s * 1000), grant.ends_at].toSorted()[0]!,
    attestation: JSON.stringify(await proofOf(call, asked, granting, use)),
  })
  const row = await db
    .insertInto('approvals')
    .values({ ...values, row_mac: keyring.macOf('approvals', values) })
    .returningAll()
    .executeTakeFirstOrThrow()
  await addBallot(call, row, ballot)
  await call.audit(row.org_id, auditSubject(row.request_id), ['status', 'approved', 'granted_by'])
  return row
}
