import type { ApprovalGateway, Ask } from '../../contract/approval-gateway.ts'
import { approval } from '../../contract/approval.ts'
import { issuesOf } from '../../contract/issues.ts'
import { requestId } from '../../core/ids.ts'
import { invalidFields, Refusal } from '../../core/refusal.ts'
import type { Handler } from '../call/call.ts'
import { type Caller, namedKeyOf } from '../call/caller.ts'
import { runWrite } from '../call/run.ts'
import type { Service } from '../call/service.ts'
import { withdrawApproval } from './consumption.ts'
import { awaitEnd, readSettled } from './decision-waiter.ts'
import { answered } from './record.ts'
import { requestApproval } from './request.ts'

/**
 * Asks people through the engine in this process. It knows the requests of its own caller and no others, be they of the
 * same organization. Costs nothing to make.
 */
export const createEngineGateway = (service: Service, caller: Caller): ApprovalGateway => {
  const access = { orgId: caller.orgId, askedBy: namedKeyOf(caller) }

  const write = async <I extends object, D>(action: string, handler: Handler<I, D>, input: I): Promise<D> => {
    const asked = { action, caller, requestId: requestId(), given: Object.keys(input) }
    const data = await runWrite(service, asked, handler, input, async (_call, work) => (await work()).data)
    if (data instanceof Refusal) throw data
    return data
  }

  return {
    boundToAction: true,
    request: async (ask: Ask) => {
      const schema = approval.createApproval.input
      const checked = schema.safeParse(ask)
      if (!checked.success) throw invalidFields(issuesOf(checked.error, schema, ask))
      return write('createApproval', requestApproval, checked.data)
    },
    status: async (request_id) => answered(await readSettled(service, request_id, access), caller),
    wait: async (request_id, seconds, signal) =>
      answered(await awaitEnd(service, request_id, access, { seconds, signal }), caller),
    cancel: async (request_id, why) => {
      await write(
        'cancelApproval',
        (id: { request_id: string }, call) => withdrawApproval(call, id.request_id, access, why),
        {
          request_id,
        },
      )
    },
  }
}
