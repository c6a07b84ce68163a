import { approval } from '../contract/approval.ts'
import type { ApprovalGateway } from '../contract/approval-gateway.ts'
import type { Input, Operation } from '../contract/operation.ts'
import { SvcError } from '../core/errors.ts'
import { recordIn } from './answer-data.ts'
import type { Client } from './client.ts'
import { followRequest, type Following } from './follow-request.ts'

type Options = {
  client: Client
  /** Required with an operator key. */
  org_id?: number
} & Omit<Following, 'signal'>

/**
 * Whether the service has `/svc/v1/approvals`; a third-party service answers 404. Throws an SvcError if the service cannot
 * be reached or does not accept the key.
 */
export const hasApprovals = async (client: Client): Promise<boolean> => {
  try {
    const { envelope } = await client.call(approval.listApprovals, { limit: 1 })
    return Array.isArray(envelope.data)
  } catch (error) {
    if (error instanceof SvcError && (error.http_status === 404 || error.http_status === 405)) return false
    throw error
  }
}

/** Requests approvals through the REST API of our service. */
export const createRestGateway = (options: Options): ApprovalGateway => {
  const { client, sleep, clock } = options

  const call = async <O extends Operation>(operation: O, input: Input<O>, signal?: AbortSignal) =>
    recordIn(operation, await client.call(operation, input, { signal }))

  const wait: ApprovalGateway['wait'] = async (request_id, seconds, signal) => {
    const read = (wait_s?: number) => call(approval.getApproval, { request_id, wait_s }, signal)
    return followRequest(read, seconds, {
      signal,
      ...(sleep && { sleep }),
      ...(clock && { clock }),
    })
  }

  return {
    boundToAction: true,
    request: (ask) => call(approval.createApproval, { org_id: options.org_id, ...ask }),
    status: (request_id) => call(approval.getApproval, { request_id }),
    wait,
    cancel: async (request_id) => {
      await call(approval.cancelApproval, { request_id })
    },
    consume: async (request_id, digest) => {
      const { used_at } = await call(approval.consumeApproval, { request_id, digest })
      if (typeof used_at === 'string') return
      throw new SvcError(
        'failed',
        'unexpected_answer',
        'The service did not confirm that the approval was used',
        {
          detail: 'It may have been used, and it works once. Request a new approval.',
        },
      )
    },
  }
}
