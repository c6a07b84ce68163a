import { recordIn } from '../client/answer-data.ts'
import type { Client } from '../client/client.ts'
import { approvalStates } from '../contract/approval-state.ts'
import { approval, type ApprovalRecord } from '../contract/approval.ts'
import type { Input, Operation } from '../contract/operation.ts'
import { SvcError, unexpectedAnswer } from '../core/errors.ts'
import { safeLine } from '../core/safe-text.ts'
import { placeOf, type Backend } from './backend.ts'
import { createProver } from './proof.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * Whether the service has `/svc/v1/approvals`; a third-party service answers 404. Throws an SvcError if the service cannot
 * be reached or does not accept the key.
 */
export const hasApprovals = async (client: Pick<Client, 'call'>): Promise<boolean> => {
  try {
    const { envelope } = await client.call(approval.listApprovals, { limit: 1 })
    return Array.isArray(envelope.data)
  } catch (error) {
    if (error instanceof SvcError && (error.http_status === 404 || error.http_status === 405)) return false
    throw error
  }
}

/** Tracks the difference between the two clocks from the `Date` of each answer. */
const withClock = (client: Client, now: () => number): { call: Client['call']; now(): number } => {
  let ahead = 0
  return {
    now: () => now() + ahead,
    call: async (...call) => {
      const answer = await client.call(...call)
      const serviceTime = Date.parse(answer.date ?? '')
      // The header counts whole seconds.
      if (Math.abs(serviceTime - now() - ahead) > 1500) ahead = serviceTime - now()
      return answer
    },
  }
}

const unclear = (message: string): SvcError =>
  unexpectedAnswer(message, {
    detail: 'This is not an approval.',
    hint: 'svc profile show --explain shows the address in use',
  })

/** Checks a record: a third-party service may report success without one, which is neither a request nor a decision. */
const readable = (record: ApprovalRecord, expectedId?: string): ApprovalRecord => {
  const { request_id, status, action, approver_mobile } = record
  if ([request_id, status, action, approver_mobile].some((text) => typeof text !== 'string'))
    throw unclear('The service returned no request with a status')
  if (!approvalStates.some((state) => state === status))
    throw unclear(
      `The service reports the status "${safeLine(status.slice(0, 40))}", which svc does not know`,
    )
  if (expectedId !== undefined && request_id !== expectedId)
    throw unclear('The service returned another request')
  return record
}

/** Checks that a new request is pending: nobody can have decided it yet, unless somebody had granted it. */
const opened = (record: ApprovalRecord): ApprovalRecord => {
  const { status, granted_by } = readable(record)
  if (status === 'pending' || (status === 'approved' && typeof granted_by === 'string')) return record
  throw unclear('The service reports a decision before the person can have made one')
}

export const createRestBackend = (
  { client, url }: { client: Client; url: string },
  surroundings: Surroundings,
): Backend => {
  const timed = withClock(client, surroundings.now)
  const place = { ...placeOf(url), now: timed.now }
  const prover = createProver({ ...place, isNamed: () => true }, surroundings)

  const call = async <O extends Operation>(operation: O, input: Input<O>, signal?: AbortSignal) =>
    recordIn(operation, await timed.call(operation, input, { signal }))
  const read = async (request_id: string, wait_s?: number, signal?: AbortSignal): Promise<ApprovalRecord> =>
    prover.checked(readable(await call(approval.getApproval, { request_id, wait_s }, signal), request_id))

  return {
    ...place,
    tools: false,
    flags: surroundings.flags,
    organization: surroundings.organization,
    boundToAction: true,
    request: async (ask) => {
      const record = opened(await call(approval.createApproval, ask))
      return prover.checked(prover.asked(ask, record))
    },
    status: (request_id) => read(request_id),
    wait: read,
    withdraw: async (request_id) => {
      await call(approval.withdrawApproval, { request_id })
    },
    consume: async (request_id, digest) => {
      const { used_at } = await call(approval.consumeApproval, { request_id, digest })
      if (typeof used_at === 'string') return
      throw unexpectedAnswer('The service did not confirm that the approval was used', {
        detail: 'It may have been used, and it works once. Request a new approval.',
      })
    },
    prove: prover.prove,
    // Whoever opened the client closes it.
    close: async () => undefined,
  }
}
