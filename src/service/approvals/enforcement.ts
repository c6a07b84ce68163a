import { metaOf } from '../../contract/field.ts'
import { orgFields } from '../../contract/operation.ts'
import { fieldSchemas } from '../../contract/schema.ts'
import { type OperationId, table } from '../../contract/table.ts'
import { Refusal } from '../../core/refusal.ts'
import { digestOf, type Subject } from '../../receipt/subject.ts'
import type { Call, Requirement } from '../call/call.ts'
import type { Caller } from '../call/caller.ts'
import { runWrite, type Worked } from '../call/run.ts'
import type { Service } from '../call/service.ts'
import { ofMember, organizationRow } from '../call/tenant.ts'
import { nameOf } from '../devices/notices.ts'
import { ownedKeyText } from './key-confirmation.ts'
import { readReason } from './held-reason.ts'
import { reviewedText } from './review.ts'
import { readRuleChange } from './rule-subject.ts'
import { asRequester, commandOf } from './page-write.ts'
import type { ApprovalRow } from './rows.ts'
import { checkReference, unknownApproval } from './reference.ts'
import { useOnce } from './consumption.ts'
import { findRequirement } from './holding.ts'
import { askApprovers, readRequirements, requireCovered, requireNone } from './required-approval.ts'

type Fields = Record<string, unknown>
type Reader = (call: Call, input: Fields, orgId: number) => Promise<(Fields & { name: string }) | undefined>

const readRow =
  (name: 'geofences' | 'timeslots' | 'auth_codes', idField: string): Reader =>
  async ({ db }, input, orgId) => {
    const row: Fields | undefined = await db
      .selectFrom(name)
      .where('id', '=', input[idField] as number)
      .where('org_id', '=', orgId)
      .selectAll()
      .executeTakeFirst()
    return row && { ...row, name: String(row.name ?? row.label) }
  }

const readUser =
  (idField: 'userId' | 'user_id'): Reader =>
  async ({ db }, input, orgId) => {
    const row = await db
      .selectFrom('memberships as m')
      .innerJoin('people as p', 'p.id', 'm.user_id')
      .where(ofMember({ org_id: orgId, user_id: input[idField] as number }, 'm'))
      .select(['m.email', 'm.first_name', 'm.last_name', 'm.role', 'm.state'])
      .select(['p.mobile', 'p.country_code'])
      .executeTakeFirst()
    return row && { ...row, name: `${row.first_name} ${row.last_name}` }
  }

const readOrganization: Reader = ({ db }, _, orgId) => organizationRow(db, orgId)

/** Reads what a call is about to change or delete. */
const readers: Partial<Record<OperationId, Reader>> = {
  updateGeofence: readRow('geofences', 'id'),
  deleteGeofence: readRow('geofences', 'id'),
  updateTimeslot: readRow('timeslots', 'timeslot_id'),
  deleteTimeslot: readRow('timeslots', 'timeslot_id'),
  updateAuthCode: readRow('auth_codes', 'authCodeId'),
  deleteAuthCode: readRow('auth_codes', 'auth_code_id'),
  updateUser: readUser('userId'),
  deleteUser: readUser('userId'),
  removeUser: readUser('user_id'),
  makeAdmin: readUser('user_id'),
  updateOrganization: readOrganization,
  deleteOrganization: readOrganization,
}

/** The input without the organization; a secret becomes a digest that only the service can compute. */
const bodyOf = ({ keyring }: Call, id: OperationId, input: Fields): Fields => {
  const shape = fieldSchemas(table[id].input)
  const body: Fields = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || orgFields.includes(name)) continue
    const field = shape[name]
    const isSecret = field !== undefined && metaOf(field)?.secret === true
    body[name] = isSecret ? keyring.secretDigest(String(value)) : value
  }
  return body
}

/** What an approver reads besides the input, which names it by id only. */
const moreOf = async (
  call: Call,
  { id, input }: { id: OperationId; input: Fields },
  orgId: number,
): Promise<Fields> => {
  if (id === 'confirmKeyOwner') return ownedKeyText(call, Number(input['id']))
  if (id === 'reviewApproval') return reviewedText(call, String(input['request_id']), orgId)
  if (id !== 'setAway') return {}
  const user_id = Number(input['user_id'] ?? call.caller.ownerId)
  return { name: await nameOf(call.db, { org_id: orgId, user_id }) }
}

type RequestSubject = Extract<Subject, { type: 'request' }>

/**
 * What a person approves when a call requires it: the operation, its organization and its input, with the values that an
 * update replaces and the name of what a deletion deletes. The same call on the same state has the same digest.
 */
const requestSubject = async (
  call: Call,
  { id, input }: { id: OperationId; input: Fields },
  orgId: number,
): Promise<RequestSubject> => {
  const { slug } = await organizationRow(call.db, orgId)
  const body = bodyOf(call, id, input)
  const present = await readers[id]?.(call, input, orgId)
  const deletes = table[id].effect === 'delete'
  const replaced = Object.entries(present ?? {}).filter(([name]) => !deletes && Object.hasOwn(body, name))
  const change = await readRuleChange(call, id, input, orgId)
  replaced.push(...Object.entries(change?.before ?? {}))
  const more = await moreOf(call, { id, input }, orgId)
  const data = {
    organization: { id: String(orgId), slug },
    operation: id,
    body: { ...body, ...more, ...change?.after },
    ...(replaced.length > 0 && { before: Object.fromEntries(replaced) }),
    ...(present && deletes && { deletions: [present.name] }),
  }
  // Through JSON, because verifiers read JSON: a value that JSON changes would have another digest there.
  return { type: 'request', data: JSON.parse(JSON.stringify(data)) as RequestSubject['data'] }
}

type Asking = {
  caller: Caller
  requestId: string
  ip: () => string | undefined
  input: Fields
  /** The header with the reason. */
  reason: string | undefined
}

const onlyRefusal = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  throw error
}

/** Enforces the approval rules of every organization that the writes of one operation change. */
export const createEnforcement = (id: OperationId) => ({
  /**
   * Does the work of a call, and uses the approval that its `x-svc-approval` header names if one is required. `proven` is
   * that request, or null if the header names none. Throws ApprovalRequired or a Refusal, either of which undoes the work.
   */
  pass: async <D>(
    call: Call,
    { proven, input }: { proven: ApprovalRow | null | undefined; input: Fields },
    work: () => Promise<Worked<D>>,
  ): Promise<Worked<D>> => {
    if (proven === null) throw unknownApproval()
    const command = await commandOf(call, id, input)
    // People agree to a change of what there is, so what there is decides who must agree.
    const orgId = call.preconditions?.orgId ?? 0
    const before = { orgId, requirement: await findRequirement(call, orgId, command) }
    if (proven === undefined) {
      const worked = await work()
      requireNone(await readRequirements(call, command, worked, before))
      return worked
    }
    // The digest covers the old values, so it is computed before the work.
    const { data } = await requestSubject(call, command, proven.org_id)
    const use = () => useOnce(call, { request_id: proven.request_id, digest: digestOf(data) }, proven)
    // The work may delete the approval. If both fail, the error of the work is the one to report.
    const early = before.requirement && (await use().catch(onlyRefusal))
    const worked = await work()
    const requirements = await readRequirements(call, command, worked, before)
    if (requirements.length === 0) {
      await checkReference(call, proven)
      return worked
    }
    requireCovered(call, requirements, proven)
    const used = early ?? (await use())
    if (used instanceof Refusal) throw used
    return worked
  },

  /** Requests the approvals for a call that was undone. Returns the refusal that names the requests. */
  ask: async (
    service: Service,
    { caller, requestId, ip, input, reason }: Asking,
    requirement: Requirement,
  ): Promise<Refusal> =>
    runWrite(
      service,
      { action: 'createApproval', caller, requestId, ip, fieldNames: ['subject'], org: requirement.orgId },
      async (_: object, call) => {
        const subject = await requestSubject(call, await commandOf(call, id, input), requirement.orgId)
        return askApprovers(await asRequester(call), { subject, reason: readReason(reason) }, requirement)
      },
      {},
      async (_call, work) => (await work()).data as Refusal,
    ),
})
