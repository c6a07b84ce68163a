import type { OperationId } from '../../contract/table.ts'
import { Refusal } from '../../core/refusal.ts'
import { digestOf } from '../../receipt/subject.ts'
import { asRefusal, type Call, type Requirement } from '../call/call.ts'
import type { Caller } from '../call/caller.ts'
import { runWrite, type Worked } from '../call/run.ts'
import type { Service } from '../call/service.ts'
import { rowSubject } from './batch-row.ts'
import { useRow } from './batch-rows.ts'
import { useOnce } from './consumption.ts'
import { readReason } from './held-reason.ts'
import { findRequirement } from './holding.ts'
import { asRequester, commandOf } from './page-write.ts'
import { checkReference, unknownApproval } from './reference.ts'
import { askApprovers, readRequirements, requireCovered, requireNone } from './required-approval.ts'
import type { ApprovalRow } from './rows.ts'
import { requestSubject, type Write } from './write-subject.ts'

type Fields = Record<string, unknown>

type Asking = {
  caller: Caller
  requestId: string
  ip: () => string | undefined
  input: Fields
  /** The header with the reason. */
  reason: string | undefined
}

/** Uses up what the caller named for this write: a whole approval, or a row of one. The digest covers the old values. */
const useApproval = async (call: Call, write: Write, proven: ApprovalRow, row: number | undefined) => {
  const { org_id: orgId, org_slug: slug, request_id } = proven
  if (row === undefined) {
    const { data } = await requestSubject(call, write, orgId)
    return () => useOnce(call, { request_id, digest: digestOf(data) }, proven)
  }
  const { data } = await rowSubject(call, write, { orgId, slug })
  return () => useRow(call, proven, { row_index: row, digest: digestOf(data) })
}

/** Enforces the approval rules of every organization that the writes of one operation change. */
export const createEnforcement = (id: OperationId) => ({
  /**
   * Does the work of a call, and uses the approval that its `x-svc-approval` header names if one is required. `proven` is
   * that request, or null if the header names none, and `row` the index of the row that it names. Throws ApprovalRequired or a Refusal, either of which undoes the work.
   */
  pass: async <D>(
    call: Call,
    {
      proven,
      row,
      input,
    }: { proven: ApprovalRow | null | undefined; row: number | undefined; input: Fields },
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
    // Before the work, which changes the old values.
    const use = await useApproval(call, command, proven, row)
    // The work may delete the approval. If both fail, the error of the work is the one to report.
    const early = (before.requirement || row !== undefined) && (await use().catch(asRefusal))
    const worked = await work()
    const requirements = await readRequirements(call, command, worked, before)
    if (requirements.length > 0) requireCovered(call, requirements, proven)
    else if (row === undefined) {
      await checkReference(call, proven)
      return worked
    }
    const used = early || (await use())
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
