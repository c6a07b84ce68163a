import type { OperationId } from '../../contract/table.ts'
import type { Refusal } from '../../core/refusal.ts'
import { digestOf } from '../../receipt/subject.ts'
import type { Call, Requirement } from '../call/call.ts'
import type { Caller } from '../call/caller.ts'
import { runWrite, type Worked } from '../call/run.ts'
import type { Service } from '../call/service.ts'
import { checkReference, findReferenced } from './reference.ts'
import { type Fields, requestSubject } from './request-subject.ts'
import { askApprovers, requirementsOf, useApproval } from './required-approval.ts'

/** Enforces the approval rules of every organization that the writes of one operation change. */
export const createGate = (id: OperationId) => ({
  /**
   * Does the work of a call, and uses the approval that its `x-svc-approval` header names if one is required. Throws
   * ApprovalRequired or a Refusal, either of which undoes the work.
   */
  pass: async <D>(
    call: Call,
    { approval, input }: { approval: string | undefined; input: Fields },
    work: () => Promise<Worked<D>>,
  ): Promise<Worked<D>> => {
    if (approval === undefined) {
      const worked = await work()
      await useApproval(call, await requirementsOf(call, id, worked), undefined)
      return worked
    }
    const found = await findReferenced(call, approval)
    // The digest covers the old values, so it is computed before the work.
    const { data } = await requestSubject(call, id, input, found.org_id)
    const worked = await work()
    const requirements = await requirementsOf(call, id, worked)
    if (requirements.length === 0) await checkReference(call, approval)
    else await useApproval(call, requirements, { ...found, digest: digestOf(data) })
    return worked
  },

  /** Requests the approvals for a call that was undone. Returns the refusal that names the requests. */
  ask: async (
    service: Service,
    { caller, requestId, input }: { caller: Caller; requestId: string; input: Fields },
    requirement: Requirement,
  ): Promise<Refusal> =>
    runWrite(
      service,
      { action: 'createApproval', caller, requestId, fieldNames: ['subject'], org: requirement.orgId },
      async (_: object, call) =>
        askApprovers(call, await requestSubject(call, id, input, requirement.orgId), requirement),
      {},
      async (_call, work) => (await work()).data as Refusal,
    ),
})
