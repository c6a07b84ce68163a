import type { ApprovalRecord } from '../../contract/approval.ts'
import type { OperationId } from '../../contract/table.ts'
import { Refusal } from '../../core/refusal.ts'
import { digestOf, type Subject } from '../../receipt/subject.ts'
import type { Call, Requirement } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { relationOf } from '../keys/ancestry.ts'
import { approversOf } from '../policy/approval-rules.ts'
import { consumeApproval, withdrawApproval } from './consumption.ts'
import { unknownApproval } from './reference.ts'
import { requestApproval } from './request.ts'

/** A write that was rolled back because nobody has approved it. The route makes requests of it. */
export class ApprovalRequired extends Error {
  override readonly name = 'ApprovalRequired'
  readonly requirement: Requirement
  constructor(requirement: Requirement) {
    super('an approval is required')
    this.requirement = requirement
  }
}

/** An approval that a call names, with the digest of what the call does. */
export type Named = {
  request_id: string
  org_id: number
  user_id: number
  asked_by: number
  device_id: number | null
  digest: string
}

/** Their handlers demand by themselves: after the work the rules may be others, or gone. */
const demandsItself = new Set<OperationId>(['updateOrganization', 'deleteOrganization'])

/** What a call needs: what its handler demanded, and what the rules of each organization that it changed say. */
export const requirementsOf = async (
  call: Call,
  id: OperationId,
  { changed, demanded }: { changed: Iterable<number>; demanded: readonly Requirement[] },
): Promise<Requirement[]> => {
  const found = [...demanded]
  if (demandsItself.has(id)) return found
  for (const orgId of changed) {
    const approvers = orgId === 0 ? undefined : await approversOf(call.db, orgId, id)
    if (approvers) found.push({ orgId, approvers })
  }
  return found
}

const notTheirs = (): Refusal =>
  new Refusal(403, 'approval_required', 'The approval is not of a user who may approve this', {
    hint: 'Repeat the call without x-svc-approval, and those who may are asked',
  })

/**
 * Whether the key that calls enrolled the device that approved: it could have approved its own call. The operator is the root of
 * trust.
 */
const enrolledItself = async (call: Call, { org_id, device_id }: Named): Promise<boolean> => {
  if (isOperator(call.caller)) return false
  const device = await call.db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('id', '=', device_id ?? 0)
    .select('enrolled_by')
    .executeTakeFirst()
  return device !== undefined && (await relationOf(call, call.caller.keyId, device.enrolled_by)) === 'self'
}

const selfEnrolled = (): Refusal =>
  new Refusal(403, 'not_separated', 'The key that calls enrolled the device that approved the call', {
    hint: 'Call with another key, or approve with a device that another key enrolled',
  })

/**
 * Uses the approval that a call names, in the transaction of the call itself. Throws an ApprovalRequired where it names
 * none, and a Refusal where that one is not good for this call; either undoes the call.
 */
export const useApproval = async (
  call: Call,
  requirements: readonly Requirement[],
  named: Named | undefined,
): Promise<void> => {
  const [first] = requirements
  if (!first) return
  if (!named) throw new ApprovalRequired(first)
  if (named.asked_by !== namedKeyOf(call.caller)) throw unknownApproval()
  for (const { orgId, approvers } of requirements)
    if (named.org_id !== orgId || !approvers.includes(named.user_id)) throw notTheirs()
  if (await enrolledItself(call, named)) throw selfEnrolled()
  const { request_id, digest } = named
  const used = await consumeApproval({ request_id, digest }, call)
  if (used instanceof Refusal) throw used
  for (const other of await waiting(call, digest, ['pending']))
    await withdrawApproval(
      call,
      other.request_id,
      { orgId: named.org_id, askedBy: namedKeyOf(call.caller) },
      'another approver approved it',
    )
}

/** Requests of this key for exactly this, which a repeat of the call must not make again. */
const waiting = (call: Call, digest: string, states: ('pending' | 'approved')[]) =>
  call.db
    .selectFrom('approvals')
    .where('asked_by', '=', namedKeyOf(call.caller))
    .where('subject_digest', '=', digest)
    .where('status', 'in', states)
    .where('used_at', 'is', null)
    .where(({ eb, or, and }) =>
      or([
        and([eb('status', '=', 'pending'), eb('expires_at', '>', call.now)]),
        and([eb('status', '=', 'approved'), eb('use_by', '>', call.now)]),
      ]),
    )
    .select(['request_id', 'org_id', 'user_id', 'status', 'expires_at'])
    .orderBy('id')
    .execute()

type Told = Pick<ApprovalRecord, 'request_id' | 'status' | 'expires_at'> & { user_id: string }

const mobilesOf = (call: Call, { orgId, approvers }: Requirement) =>
  call.db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .where('m.org_id', '=', orgId)
    .where('m.user_id', 'in', [...approvers])
    .select(['m.user_id', 'p.mobile'])
    .orderBy('m.user_id')
    .execute()

/** Asks everybody who may approve, unless they were asked for exactly this already. Answers the 403 that names the requests. */
export const askApprovers = async (
  call: Call,
  subject: Subject,
  requirement: Requirement,
): Promise<Refusal> => {
  const digest = digestOf(subject.data)
  const asked: Told[] = (await waiting(call, digest, ['pending', 'approved'])).map(
    ({ request_id, user_id, status, expires_at }) => ({
      request_id,
      user_id: String(user_id),
      status,
      expires_at,
    }),
  )
  const problems: Refusal[] = []
  if (asked.length === 0)
    for (const { user_id, mobile } of await mobilesOf(call, requirement))
      try {
        const input = { subject: { ...subject, digest }, approver_mobile: mobile, org_id: requirement.orgId }
        const { request_id, status, expires_at } = await requestApproval(input, call, { byRule: true })
        asked.push({ request_id, user_id: String(user_id), status, expires_at })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        problems.push(error)
      }
  if (asked.length === 0 && problems[0]) throw problems[0]
  const [first] = asked
  if (!first)
    throw new Refusal(409, 'approver_not_enrolled', 'Nobody who may approve this has an active device', {
      hint: 'svc user enroll <user-id> registers one; the operator can change the rule: svc org update',
    })
  return new Refusal(
    403,
    'approval_required',
    'The organization requires an approval for this; nothing was changed',
    {
      hint: `Repeat the call with the header x-svc-approval: ${first.request_id} once it is approved`,
      data: { requests: asked, digest },
    },
  )
}
