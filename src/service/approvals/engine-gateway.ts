import type { Action } from '../call/actions.ts'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import { approval } from '../../contract/approval.ts'
import { issuesOf } from '../../contract/issues.ts'
import { requestId } from '../../core/ids.ts'
import { invalidFields, Refusal } from '../../core/refusal.ts'
import type { Handler } from '../call/call.ts'
import { type Caller, namedKeyOf } from '../call/caller.ts'
import { readPreconditions, requireLiveCaller } from '../call/preconditions.ts'
import { runWrite } from '../call/run.ts'
import type { Service } from '../call/service.ts'
import { endByRequester } from './consumption.ts'
import { readCurrent, waitForEnd } from './current.ts'
import { toApprovalRecord } from './record.ts'
import { requestApproval } from './request.ts'

/** Requests approvals in this process. It reaches only the requests of its own caller. Cheap to create. */
export const createEngineGateway = (
  service: Service,
  caller: Caller,
  ip?: () => string | undefined,
): ApprovalGateway => {
  const access = { orgId: caller.orgId, askedBy: namedKeyOf(caller) }
  const viewer = { caller, keyring: service.keyring }

  const write = async <I extends object, D>(action: Action, handler: Handler<I, D>, input: I): Promise<D> => {
    const invocation = { action, caller, ip, requestId: requestId(), fieldNames: Object.keys(input) }
    const data = await runWrite(
      service,
      invocation,
      handler,
      input,
      async (_call, work) => (await work()).data,
    )
    if (data instanceof Refusal) throw data
    return data
  }

  return {
    boundToAction: true,
    request: async (ask) => {
      const { input } = approval.createApproval
      const checked = input.safeParse(ask)
      if (!checked.success) throw invalidFields(issuesOf(checked.error, input, ask))
      return write(
        'createApproval',
        (input, call) => requestApproval(input, call, { via: 'tools' }),
        checked.data,
      )
    },
    status: async (request_id) => toApprovalRecord(await readCurrent(service, request_id, access), viewer),
    wait: async (request_id, seconds, signal) => {
      const row = await waitForEnd(service, request_id, access, { seconds, signal })
      const { storage } = service
      // The key may have ended meanwhile.
      requireLiveCaller(
        await storage.read((db) => readPreconditions(db, caller, row.org_id)),
        caller,
        storage.now(),
      )
      return toApprovalRecord(row, viewer)
    },
    withdraw: async (request_id, reason) => {
      const withdraw: Handler<object, unknown> = (_, call) => endByRequester(call, request_id, access, reason)
      await write('withdrawApproval', withdraw, { request_id })
    },
  }
}
