import type { OperationId } from '../../contract/table.ts'
import { conflict, forbidden, Refusal } from '../../core/refusal.ts'
import { digestOf, type Subject } from '../../receipt/subject.ts'
import type { Call, Requirement } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { findRelation } from '../devices/origin.ts'
import { findApprovers } from '../policy/approval-rules.ts'
import { useOnce } from './consumption.ts'
import { endOthers } from './deny-call.ts'
import type { ApprovalRow } from './record.ts'
import { unknownApproval } from './reference.ts'
import { requestApproval } from './request.ts'

/** A write that was rolled back because it has no approval. The route requests one. */
export class ApprovalRequired extends Error {
  override readonly name = 'ApprovalRequired'
  readonly requirement: Requirement
  constructor(requirement: Requirement) {
    super('an approval is required')
    this.requirement = requirement
  }
}

/**
 * These handlers call `demandApproval` themselves, because their work changes or deletes the rules; and a new organization has
 * nobody yet who could approve.
 */
const withoutRules = new Set<OperationId>(['updateOrganization', 'deleteOrganization', 'createOrganization'])

/** The person at the page, who requests the approval, is excluded. */
const withoutRequester = ({ caller }: Call, approvers: number[]): number[] => {
  const others = approvers.filter((id) => id !== caller.person?.user_id)
  if (others.length > 0) return others
  throw conflict(
    'only_approver',
    'You are the only person who may approve this, and nobody approves their own request',
    'Ask the operator to add another approver to the rule: svc org update --require-approval',
  )
}

/** The approvals that a call needs: those that its handler demanded, and those of the organizations that it changes. */
export const readRequirements = async (
  call: Call,
  id: OperationId,
  { changed, demanded }: { changed: Iterable<number>; demanded: readonly Requirement[] },
): Promise<Requirement[]> => {
  const found = [...demanded]
  if (withoutRules.has(id)) return found
  for (const orgId of changed) {
    const approvers = orgId === 0 ? undefined : await findApprovers(call, orgId, id)
    if (approvers) found.push({ orgId, approvers: withoutRequester(call, approvers) })
  }
  return found
}

/** Whether the calling key may be behind the approving device: it could then approve its own call. The operator is trusted. */
const mayBeOwnDevice = async (
  call: Call,
  { device_id }: Pick<ApprovalRow, 'device_id'>,
): Promise<boolean> => {
  if (isOperator(call.caller) || device_id === null) return false
  const { relation } = await findRelation(call, namedKeyOf(call.caller), { device: device_id })
  return relation === 'self' || relation === 'unknown'
}

/**
 * Uses the approval that a call names, in the transaction of the call itself. Throws ApprovalRequired if it names none,
 * and a Refusal if the approval is not valid for this call. Either undoes the call.
 */
export const useApproval = async (
  call: Call,
  requirements: readonly Requirement[],
  approval: { proven: ApprovalRow; digest: string } | undefined,
): Promise<void> => {
  const [first] = requirements
  if (!first) return
  if (!approval) throw new ApprovalRequired(first)
  const { proven, digest } = approval
  const { request_id, org_id, user_id, asked_by } = proven
  if (asked_by !== namedKeyOf(call.caller)) throw unknownApproval()
  if (requirements.some(({ orgId, approvers }) => org_id !== orgId || !approvers.includes(user_id)))
    throw forbidden(
      'approval_required',
      'The approval is not from a user who can approve this',
      'Repeat the call without x-svc-approval to request an approval',
    )
  if (await mayBeOwnDevice(call, proven))
    throw forbidden(
      'not_separated',
      'The device that approved the call goes back to the calling key, or to an unrecorded key',
      'Call with another key, or approve with a device that another key enrolled',
    )
  const used = await useOnce(call, { request_id, digest }, proven)
  if (used instanceof Refusal) throw used
  // Each approver was asked about one call, so their approvals are not one call each.
  await endOthers(call, proven, 'withdrawn because another approver approved it')
}

/** The requests of this key for exactly this subject. A repeat of the call must not request them again. */
const openRequests = (call: Call, digest: string) =>
  call.db
    .selectFrom('approvals')
    .where('asked_by', '=', namedKeyOf(call.caller))
    .where('subject_digest', '=', digest)
    .where('used_at', 'is', null)
    .where(({ eb, or, and }) =>
      or([
        and([eb('status', '=', 'pending'), eb('expires_at', '>', call.now)]),
        and([eb('status', '=', 'approved'), eb('use_by', '>', call.now)]),
      ]),
    )
    .select(['request_id', 'user_id', 'status', 'expires_at', 'device_id'])
    .orderBy('id')
    .execute()

const readMobiles = (call: Call, { orgId, approvers }: Requirement) =>
  call.db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .where('m.org_id', '=', orgId)
    .where('m.user_id', 'in', [...approvers])
    .select(['m.user_id', 'p.mobile'])
    .orderBy('m.user_id')
    .execute()

/** Who is asked, for the page, which names them to the person who waits. */
const readNames = async (call: Call, { orgId, approvers }: Requirement) => {
  const members = await call.db
    .selectFrom('memberships')
    .where('org_id', '=', orgId)
    .where('user_id', 'in', [...approvers])
    .select(['user_id', 'first_name', 'last_name'])
    .execute()
  return new Map(members.map((one) => [one.user_id, `${one.first_name} ${one.last_name}`]))
}

/** Requests the approval of every approver, unless there are requests for this subject. Returns the 403 that names them. */
export const askApprovers = async (
  call: Call,
  subject: Subject,
  requirement: Requirement,
): Promise<Refusal> => {
  const digest = digestOf(subject.data)
  const requests: Pick<ApprovalRow, 'request_id' | 'user_id' | 'status' | 'expires_at'>[] = []
  for (const one of await openRequests(call, digest))
    // An approval that this call cannot use would stand in the way until it ends.
    if (one.status === 'pending' || !(await mayBeOwnDevice(call, one))) requests.push(one)
  const problems: Refusal[] = []
  if (requests.length === 0)
    for (const { user_id, mobile } of await readMobiles(call, requirement))
      try {
        const input = { subject: { ...subject, digest }, approver_mobile: mobile, org_id: requirement.orgId }
        const { request_id, status, expires_at } = await requestApproval(input, call, { byRule: true })
        requests.push({ request_id, user_id, status, expires_at })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        problems.push(error)
      }
  const [first] = requests
  if (!first)
    throw (
      problems[0] ??
      new Refusal(409, 'approver_not_enrolled', 'No approver for this has an active device', {
        hint: 'Register one: svc user enroll. The operator can change the rule: svc org update',
      })
    )
  const names = call.caller.person && (await readNames(call, requirement))
  const named = requests.map(({ request_id, user_id, status, expires_at }) => {
    const name = names?.get(user_id)
    return { request_id, user_id: String(user_id), status, expires_at, name }
  })
  return forbidden(
    'approval_required',
    'The organization requires an approval for this; nothing was changed',
    `Repeat the call with the header x-svc-approval: ${first.request_id} once it is approved`,
    { requests: named, digest },
  )
}
