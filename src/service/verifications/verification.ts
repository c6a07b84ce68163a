import type { SourcedFactor } from '../../contract/auth.ts'
import type { Selectable } from 'kysely'
import { addMs } from '../../core/iso-time.ts'
import { conflict, notFound, Refusal } from '../../core/refusal.ts'
import type { FactorResult } from '../../receipt/claims.ts'
import { expireDue } from '../approvals/expiry.ts'
import { isGenuine } from '../approvals/genuine.ts'
import type { ApprovalRow } from '../approvals/rows.ts'
import { selectApprovals, trusted } from '../approvals/record.ts'
import type { Call } from '../call/call.ts'
import {
  type Member,
  ofActiveMember,
  ofMember,
  ofMembership,
  organizationOfUser,
  requireOwnNumber,
} from '../call/tenant.ts'
import type { Tables } from '../storage/schema.ts'

/** How long a verification can be used, however early the person answered. */
const lifetimeMs = 10 * 60_000

/** The member whom a caller means. One 404 for an unknown person and for a member of another organization. */
export const findMember = async (
  reach: Pick<Call, 'db' | 'caller' | 'keyring'>,
  { user_id, mobile, org_id }: { user_id?: number | undefined; mobile?: string; org_id?: number | undefined },
): Promise<Member> => {
  const person = await reach.db
    .selectFrom('people')
    .$if(user_id !== undefined, (query) => query.where('id', '=', user_id!))
    .$if(mobile !== undefined, (query) => query.where('mobile', '=', mobile!))
    .selectAll()
    .executeTakeFirstOrThrow(() => notFound('User'))
  requireOwnNumber(reach, person)
  return { user_id: person.id, org_id: await organizationOfUser(reach, person.id, org_id) }
}

type Wanted = Member & {
  request_id?: string | undefined
  kind?: 'prompt' | 'token'
  /** The key that started the verification. */
  key_id?: number
}

type New = Pick<
  Selectable<Tables['verifications']>,
  'request_id' | 'org_id' | 'user_id' | 'key_id' | 'kind' | 'token_hash'
>

export const addVerification = async ({ db, keyring, now }: Call, values: New) => {
  const row = { ...values, created_at: now, expires_at: addMs(now, lifetimeMs) }
  await db
    .insertInto('verifications')
    .values({ ...row, row_mac: keyring.macOf('verifications', row) })
    .execute()
  return row
}

/** What the approval that asks on the phone says; undefined for one that another program has changed. */
const readPrompt = async (
  call: Pick<Call, 'db' | 'keyring'>,
  { request_id, org_id, user_id, key_id }: New,
): Promise<ApprovalRow | undefined> => {
  const row = await selectApprovals(call.db, { orgId: org_id, askedBy: key_id })
    .innerJoin('ballots as b', 'b.request_id', 'a.request_id')
    .where('a.request_id', '=', request_id)
    .where('b.user_id', '=', user_id)
    .executeTakeFirst()
  return row && isGenuine(row, call) ? trusted(row, call) : undefined
}

/**
 * The newest verification of an active member that is as wanted, with the approval that asks on the phone. One that another
 * program wrote, or moved to another key, is answered like an unknown one.
 */
export const findVerification = async (
  call: Pick<Call, 'db' | 'keyring'>,
  { request_id, kind, key_id, ...member }: Wanted,
) => {
  const row = await call.db
    .selectFrom('verifications as v')
    .innerJoin('memberships as m', (join) => join.on(ofMembership('v')))
    .where(ofMember(member, 'v'))
    .where('m.state', '=', 'active')
    .$if(key_id !== undefined, (query) => query.where('v.key_id', '=', key_id!))
    .$if(request_id !== undefined, (query) => query.where('v.request_id', '=', request_id!))
    .$if(kind !== undefined, (query) => query.where('v.kind', '=', kind!))
    .selectAll('v')
    .orderBy('v.id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow(() => notFound('Verification'))
  if (row.spent_at === null && !call.keyring.holds('verifications', row)) throw notFound('Verification')
  const prompt = row.kind === 'prompt' ? await readPrompt(call, row) : undefined
  return { ...row, prompt }
}

type Verification = Awaited<ReturnType<typeof findVerification>>

const hint = 'Ask the person again: svc auth verify-user'

const spent = (): Refusal =>
  new Refusal(410, 'spent', 'This verification was already used; it works once', { hint })

/**
 * The refusal of a verification that cannot be used now. It is to be returned, because an expiry is recorded with it.
 * `beforeAnswer` accepts one that the person has not answered, unless the policy requires a number, which only they can
 * type.
 */
export const refuseUnready = async (
  call: Call,
  row: Verification,
  { beforeAnswer = false } = {},
): Promise<Refusal | undefined> => {
  const { now } = call
  const { prompt } = row
  const isPending = prompt?.status === 'pending'
  const isLate = isPending && prompt.expires_at <= now
  if (row.spent_at !== null) return spent()
  if (isLate) for (const ended of await expireDue(call, now, { request_id: row.request_id })) call.wake(ended)
  const isGone = row.kind === 'prompt' && prompt === undefined
  if (isGone || prompt?.status === 'expired' || isLate || row.expires_at <= now)
    return new Refusal(410, 'expired', 'The verification has expired', { hint })
  if (isPending && !(beforeAnswer && prompt.number === null))
    return conflict('pending', 'The person has not answered yet', 'Try again in a moment')
  return undefined
}

/** Uses up the verification of an active member, in one statement. Throws 410 if another call was faster. */
export const spend = async (
  { db, now, audit }: Call,
  { id, org_id, request_id, row_mac }: Verification,
  { outcome, source }: { outcome: 'success' | 'denied'; source: 'service' | 'caller' },
): Promise<void> => {
  await db
    .updateTable('verifications')
    .set({ spent_at: now, outcome, source, row_mac: null })
    .where('id', '=', id)
    // The row that was found authentic.
    .where('row_mac', '=', row_mac)
    .where('org_id', '=', org_id)
    .where('spent_at', 'is', null)
    .where('expires_at', '>', now)
    .where(ofActiveMember('verifications'))
    .returning('id')
    .executeTakeFirstOrThrow(spent)
  await audit(org_id, `verification:${request_id}`, ['spent_at', outcome, `source: ${source}`])
}

export const withSource = <S extends SourcedFactor['source']>(
  factor: FactorResult,
  source: S,
): FactorResult & { source: S } => ({ ...factor, source })

/** The decision of the person, and what the service found at that time. */
export const capturedFactors = ({ prompt: row }: Verification): SourcedFactor[] => {
  if (!row) return []
  const approved = row.status === 'approved'
  const found = row.ruling === null ? [] : (JSON.parse(row.ruling) as FactorResult[])
  // The person approved, and the rules refused it for the reasons that follow.
  const overruled = !approved && found.length > 0 && row.attestation === null
  const decision: FactorResult = {
    factor: 'decision',
    policy: 'required',
    result: approved ? 'PASS' : 'FAIL',
    reason: overruled
      ? 'refused by the rules'
      : (row.detail ?? `the person ${approved ? 'approved' : 'denied'} on the phone`),
    expected: 'approved',
    observed: row.status,
  }
  return [decision, ...found].map((factor) => withSource(factor, 'service'))
}

/** A denial with its reasons, in words and for each factor. */
export const denied = (factors: SourcedFactor[], source: SourcedFactor['source']): Refusal => {
  const failed = factors.filter(({ policy, result }) => policy === 'required' && result !== 'PASS')
  const why = failed.map(({ factor, reason }) => `${factor}: ${reason}`).join('; ')
  return new Refusal(403, 'denied', `Denied: ${why}`, {
    data: { decision: 'FAIL', source, factors },
  })
}

/** Ends the verifications of a deleted member, so that a later user with the same id cannot use them. */
export const endVerifications = async ({ db, now }: Pick<Call, 'db' | 'now'>, member: Member) => {
  await db
    .updateTable('verifications')
    .set({ expires_at: now })
    .where(ofMember(member))
    .where('spent_at', 'is', null)
    .where('expires_at', '>', now)
    .execute()
}
