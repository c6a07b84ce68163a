import type { OperationId } from '../../contract/table.ts'
import { forbidden, type Refusal } from '../../core/refusal.ts'
import { digestOf, type Subject } from '../../receipt/subject.ts'
import type { Call, Requirement } from '../call/call.ts'
import { isOperator, namedKeyOf } from '../call/caller.ts'
import { membersAmong } from '../call/tenant.ts'
import { isGenuine } from './genuine.ts'
import { findRequirement } from './holding.ts'
import { type HoldingRule, readLines } from './lines.ts'
import { type ApprovalRow, isUsable } from './rows.ts'
import { toApprovalRecord } from './record.ts'
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

/** One request asks for everything that a call needs in one organization. */
export const together = (requirements: readonly Requirement[]): Requirement => {
  const { orgId } = requirements[0]!
  const own = requirements.filter((one) => one.orgId === orgId)
  const rules = new Map(own.flatMap((one) => one.rules).map((rule) => [`${rule.name} ${rule.digest}`, rule]))
  return {
    orgId,
    lines: own.flatMap(({ lines }) => lines),
    rules: [...rules.values()],
    holding: own.flatMap(({ holding }) => holding),
  }
}

/** Nobody answers a call that ends their own membership. With the organization, all end. */
const withoutRemoved = async ({ db }: Call, { lines, ...rest }: Requirement): Promise<Requirement> => {
  const ids = lines.flatMap(({ members }) => members)
  const left = await membersAmong(db, rest.orgId, ids, ['active'])
  if (left.length === 0) return { ...rest, lines }
  const own = lines.map((line) => ({ ...line, members: line.members.filter((id) => left.includes(id)) }))
  return { ...rest, lines: own }
}

/** The approvals that a call needs: those that its handler demanded, and those of the organizations that it changes. */
export const readRequirements = async (
  call: Call,
  command: { id: OperationId; input: Readonly<Record<string, unknown>> },
  { changed, demanded }: { changed: Iterable<number>; demanded: readonly Requirement[] },
  /** Of the organization that the call named, before the work changed its rules and groups. */
  before: { orgId: number; requirement: Requirement | undefined },
): Promise<Requirement[]> => {
  const found = [...demanded]
  for (const orgId of changed) {
    if (orgId === 0) continue
    const isNamed = orgId === before.orgId
    const requirement = isNamed ? before.requirement : await findRequirement(call, orgId, command)
    if (requirement) found.push(await withoutRemoved(call, requirement))
  }
  return found
}

/** Whether the request asked at least what is required: every line, of the same people, by the same rules. */
const isCovered = (call: Call, { lines, rules }: Requirement, proven: ApprovalRow): boolean => {
  const asked = readLines(proven)
  const held = JSON.parse(proven.rules) as HoldingRule[]
  return (
    rules.every((rule) => held.some(({ name, digest }) => name === rule.name && digest === rule.digest)) &&
    lines.every((line) =>
      asked.some(
        (one) =>
          (one.separated || !line.separated || isOperator(call.caller)) &&
          one.need >= line.need &&
          one.group?.id === line.group?.id &&
          line.rules.every((name) => one.rules.includes(name)) &&
          one.people.every(({ user_id }) => line.members.includes(user_id)),
      ),
    )
  )
}

/** Throws ApprovalRequired, which undoes the call, if it needs an approval. */
export const requireNone = (requirements: readonly Requirement[]): void => {
  if (requirements.length > 0) throw new ApprovalRequired(together(requirements))
}

/** Throws a Refusal, which undoes the call, unless the approval is this caller's, from everybody who must agree. */
export const requireCovered = (call: Call, requirements: readonly Requirement[], proven: ApprovalRow) => {
  if (proven.asked_by !== namedKeyOf(call.caller)) throw unknownApproval()
  if (requirements.some((one) => proven.org_id !== one.orgId || !isCovered(call, one, proven)))
    throw forbidden(
      'approval_required',
      'The approval is not from the people who must approve this',
      'Repeat the call without x-svc-approval to request an approval',
    )
}

/**
 * The requests of this key for what rules require, the newest first, that can still be approved or used: of exactly this
 * subject, or without a digest those of many rows.
 */
export const openRequests = async (
  call: Call,
  requirement: Requirement,
  digest?: string,
): Promise<ApprovalRow[]> => {
  const found = await call.db
    .selectFrom('approvals')
    .where('org_id', '=', requirement.orgId)
    .where('asked_by', '=', namedKeyOf(call.caller))
    .where(({ eb, exists, selectFrom }) =>
      digest === undefined
        ? exists(
            selectFrom('batch_rows as r')
              .whereRef('r.request_id', '=', 'approvals.request_id')
              .whereRef('r.org_id', '=', 'approvals.org_id')
              .select('r.id'),
          )
        : eb('subject_digest', '=', digest),
    )
    .where('by_rule', '=', 1)
    .where((row) =>
      row.or([
        row.and([row('status', '=', 'pending'), row('expires_at', '>', call.now)]),
        isUsable(call.now)(row),
      ]),
    )
    .selectAll()
    .orderBy('id', 'desc')
    .execute()
  // One that this call cannot use would stand in the way until it ends.
  return found.filter((row) => isGenuine(row, call) && isCovered(call, requirement, row))
}

/** Requests the approval of everybody who must agree, unless there is a request for this subject. Returns the 403 that names it. */
export const askApprovers = async (
  call: Call,
  { subject, reason }: { subject: Subject; reason: string | undefined },
  requirement: Requirement,
): Promise<Refusal> => {
  const digest = digestOf(subject.data)
  // A repeat of the call must not ask again.
  const [open] = await openRequests(call, requirement, digest)
  const record = open
    ? toApprovalRecord(open, call)
    : await requestApproval({ subject: { ...subject, digest }, reason, org_id: requirement.orgId }, call, {
        held: requirement,
      })
  const { request_id, status, expires_at, lines } = record
  const people = requirement.lines.flatMap(({ members }) => members)
  const isOwn = requirement.rules.length === 0 && people.every((id) => id === call.caller.ownerId)
  return forbidden(
    'approval_required',
    isOwn
      ? 'Confirm this on your own phone; nothing was changed'
      : 'The organization requires an approval for this; nothing was changed',
    `Repeat the call with the header x-svc-approval: ${request_id} once it is approved`,
    { request: { request_id, status, expires_at, lines }, digest },
  )
}
