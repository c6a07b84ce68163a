import type { ApprovalState } from '../../contract/approval.ts'
import type { SourcedFactor } from '../../contract/auth.ts'
import { conflict, notFound, Refusal } from '../../core/refusal.ts'
import type { FactorResult, Receipt } from '../../receipt/claims.ts'
import { expireDue } from '../approvals/expiry.ts'
import type { Call } from '../call/call.ts'
import { ofActiveMember, organizationOfUser } from '../call/tenant.ts'
import type { Db, Tables } from '../storage/schema.ts'

/** How long a verification can be spent, however early the person answered. */
export const lifetimeMs = 10 * 60_000

/** `status` and below: of the approval that asks on the phone; null where a token was given out instead. */
export type Verification = Pick<
  Tables['verifications'],
  'request_id' | 'org_id' | 'user_id' | 'kind' | 'expires_at' | 'spent_at'
> & {
  id: number
  status: ApprovalState | null
  lapses_at: string | null
  detail: string | null
  ruling: string | null
  attestation: string | null
  number: string | null
}

type Whom = { user_id?: number | undefined; mobile?: string; org_id?: number | undefined }

/** The member who is meant; the same 404 for nobody and for somebody of another organization. */
export const whoIsMeant = async (
  reach: Pick<Call, 'db' | 'caller'>,
  { user_id, mobile, org_id }: Whom,
): Promise<{ org_id: number; user_id: number }> => {
  const person = await reach.db
    .selectFrom('people')
    .$if(user_id !== undefined, (query) => query.where('id', '=', user_id!))
    .$if(mobile !== undefined, (query) => query.where('mobile', '=', mobile!))
    .select('id')
    .executeTakeFirst()
  if (!person) throw notFound('User')
  return { user_id: person.id, org_id: await organizationOfUser(reach, person.id, org_id) }
}

/** The newest verification of an active member, or the one of that request id; `key_id`: only one that this key started. */
export const findVerification = (
  db: Db,
  {
    org_id,
    user_id,
    request_id,
    kind,
    key_id,
  }: { org_id: number; user_id: number; key_id?: number | undefined; request_id?: string | undefined } & Pick<
    Partial<Verification>,
    'kind'
  >,
): Promise<Verification> =>
  db
    .selectFrom('verifications as v')
    .innerJoin('memberships as m', (join) =>
      join.onRef('m.org_id', '=', 'v.org_id').onRef('m.user_id', '=', 'v.user_id'),
    )
    .leftJoin('approvals as a', (join) =>
      join.onRef('a.request_id', '=', 'v.request_id').onRef('a.org_id', '=', 'v.org_id'),
    )
    .where('v.org_id', '=', org_id)
    .where('v.user_id', '=', user_id)
    .where('m.state', '=', 'active')
    .$if(key_id !== undefined, (query) => query.where('v.key_id', '=', key_id!))
    .$if(request_id !== undefined, (query) => query.where('v.request_id', '=', request_id!))
    .$if(kind !== undefined, (query) => query.where('v.kind', '=', kind!))
    .select(['v.id', 'v.request_id', 'v.org_id', 'v.user_id', 'v.kind', 'v.expires_at', 'v.spent_at'])
    .select(['a.status', 'a.expires_at as lapses_at', 'a.detail', 'a.ruling', 'a.attestation', 'a.number'])
    .orderBy('v.id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow(() => notFound('Verification'))

export const spent = (): Refusal =>
  new Refusal(410, 'spent', 'This verification was already used; it works once', {
    hint: 'Ask the person again: svc auth verify-user',
  })

const expired = (): Refusal =>
  new Refusal(410, 'expired', 'The verification has expired', {
    hint: 'Ask the person again: svc auth verify-user',
  })

/**
 * Why it cannot be spent now; undefined when it can, be it with a no. To be returned, as an expiry is made durable here.
 * `evenUnanswered`: also before the person has answered, unless the policy asks for a number, which only they can type.
 */
export const whyNotYet = async (
  call: Call,
  row: Verification,
  { evenUnanswered = false } = {},
): Promise<Refusal | undefined> => {
  const { db, now } = call
  if (row.spent_at !== null) return spent()
  if (row.status === 'pending' && row.lapses_at! <= now)
    for (const ended of await expireDue(db, now, { request_id: row.request_id })) call.wake(ended)
  const over = row.status === 'expired' || (row.status === 'pending' && row.lapses_at! <= now)
  if (over || row.expires_at <= now) return expired()
  if (row.status === 'pending' && !(evenUnanswered && row.number === null))
    return conflict('pending', 'The person has not answered yet', 'Try again in a moment')
  return undefined
}

type Spending = { outcome: 'success' | 'denied'; source: 'service' | 'caller' }

/** One statement, one use, and only of an active member; false when somebody was faster. */
export const spend = async (
  { db, now, audit }: Call,
  { id, org_id, request_id }: Verification,
  { outcome, source }: Spending,
): Promise<boolean> => {
  const done = await db
    .updateTable('verifications')
    .set({ spent_at: now, outcome, source })
    .where('id', '=', id)
    .where('org_id', '=', org_id)
    .where('spent_at', 'is', null)
    .where('expires_at', '>', now)
    .where(ofActiveMember('verifications'))
    .returning('id')
    .executeTakeFirst()
  if (done) await audit(org_id, `verification:${request_id}`, ['spent_at', outcome, `source: ${source}`])
  return done !== undefined
}

export const receiptOf = ({ attestation }: Verification): Receipt | null =>
  attestation === null ? null : (JSON.parse(attestation) as Receipt)

export const byService = (factor: Omit<SourcedFactor, 'source'>): SourcedFactor =>
  Object.assign(factor, { source: 'service' as const }) as SourcedFactor

/** What the person decided, and what the service found when they did. */
export const capturedFactors = (row: Verification): SourcedFactor[] => {
  const approved = row.status === 'approved'
  const found = row.ruling === null ? [] : (JSON.parse(row.ruling) as FactorResult[])
  // The person said yes and the rules no: which of them follows, row by row.
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
  return [decision, ...found].map(byService)
}

/** A no, with the reasons in words and factor by factor. */
export const denied = (factors: SourcedFactor[], source: SourcedFactor['source']): Refusal => {
  const failed = factors.filter(({ policy, result }) => policy === 'required' && result !== 'PASS')
  const why = failed.map(({ factor, reason }) => `${factor}: ${reason}`).join('; ')
  return new Refusal(403, 'denied', `Denied: ${why}`, {
    data: { decision: 'FAIL', source, factors },
  })
}

/** Ends the verifications of a member who is deleted: whoever has the same id later can use none of them. */
export const endVerifications = async (
  { db, now }: Pick<Call, 'db' | 'now'>,
  { org_id, user_id }: { org_id: number; user_id: number },
): Promise<void> => {
  await db
    .updateTable('verifications')
    .set({ expires_at: now })
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('spent_at', 'is', null)
    .where('expires_at', '>', now)
    .execute()
}
