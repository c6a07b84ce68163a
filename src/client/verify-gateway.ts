import type { ApprovalRecord } from '../contract/approval.ts'
import type { ApprovalGateway } from '../contract/approval-gateway.ts'
import { newRequest } from '../contract/new-request.ts'
import { SvcError } from '../core/errors.ts'
import { randomToken } from '../core/ids.ts'
import { sleepFor } from '../core/sleep.ts'
import {
  decisionOf,
  isTransient,
  promptMs,
  refusedBy,
  successTooSoon,
  type Phone,
  type VerifyCalls,
} from './verify-calls.ts'

const pollMs = 2_000
const lifetimeSeconds = 120

type Options = {
  calls: VerifyCalls
  /** Splits a number in E.164 into its dialing prefix and the rest. */
  partsOf(mobile: string): Phone
  now?(): Date
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
}

/**
 * Requests approvals from a service without them: it sends a prompt to a phone and reports whether the person authenticated.
 * The person never sees the action, and two prompts on one phone cannot be distinguished, so only one is possible at a time.
 * Only for a service that has passed `verify-test.ts`.
 */
export const createVerifyGateway = ({
  calls,
  partsOf,
  now = () => new Date(),
  sleep = sleepFor,
}: Options): ApprovalGateway => {
  const requests = new Map<string, ApprovalRecord>()
  /** Request ids of the service, if it has them. */
  const serviceIds = new Map<string, string>()
  /** Requests for which the service has first reported something other than success. */
  const open = new Set<string>()

  const end = (record: ApprovalRecord, status: ApprovalRecord['status'], detail: string): void => {
    Object.assign(record, { status, detail, decided_at: now().toISOString() })
  }

  const refresh = async (record: ApprovalRecord): Promise<ApprovalRecord> => {
    if (record.status !== 'pending') return record
    const serviceId = serviceIds.get(record.request_id)
    const answer = await calls.readDecision(record.approver_mobile, serviceId)
    if (record.status !== 'pending') return record
    if (serviceId !== undefined && answer.request_id !== undefined && answer.request_id !== serviceId)
      throw refusedBy('The service answered about another request', { http: answer.http })
    const decision = decisionOf(answer)
    if (decision === undefined) throw refusedBy('The service does not report the decision', answer)
    if (decision === 'approved' && !open.has(record.request_id)) {
      end(record, 'expired', 'The service cannot be trusted.')
      throw successTooSoon()
    }
    if (!isTransient(answer)) open.add(record.request_id)
    const late = record.expires_at <= now().toISOString()
    if (late) end(record, 'expired', 'No one answered in time.')
    else if (decision !== 'pending')
      end(record, decision, 'The person was asked to authenticate, but was not shown the action.')
    return record
  }

  const find = (request_id: string): ApprovalRecord => {
    const record = requests.get(request_id)
    if (record) return record
    throw new SvcError('notFound', 'not_found', 'Request not found')
  }

  const request: ApprovalGateway['request'] = async (ask) => {
    const { approver_mobile, lifetime_s = lifetimeSeconds } = ask
    if (ask.number || ask.factors?.some((factor) => factor !== 'biometric'))
      throw new SvcError(
        'refused',
        'not_supported',
        'This service supports only the factor biometric, and no number',
      )
    const at = now().getTime()
    for (const [id, other] of requests) {
      if (other.approver_mobile !== approver_mobile) continue
      // A withdrawn or expired prompt may still be on the phone, and its answer must not count for this request.
      const undecided = other.status === 'pending' || other.status === 'expired'
      if (undecided && Date.parse(other.requested_at) + promptMs > at)
        throw new SvcError(
          'refused',
          'one_at_a_time',
          'This person already has a pending request; only one is possible at a time',
          {
            hint: 'Wait until check_status shows the result of that request',
          },
        )
      requests.delete(id)
      serviceIds.delete(id)
      open.delete(id)
    }
    const seconds = Math.min(lifetime_s, promptMs / 1000)
    const record: ApprovalRecord = {
      ...newRequest(ask, { request_id: `verify_${randomToken(9)}`, at, seconds }),
      factors: ['biometric'],
    }
    // Reserved before the prompt is sent, so that a second request cannot start.
    requests.set(record.request_id, record)
    try {
      const serviceId = await calls.sendPrompt(partsOf(approver_mobile))
      if (serviceId !== undefined) serviceIds.set(record.request_id, serviceId)
    } catch (error) {
      requests.delete(record.request_id)
      throw error
    }
    try {
      // Immediately, before the person can have answered.
      await refresh(record)
    } catch (error) {
      // The prompt is on the phone, so no other request may start.
      end(record, 'expired', 'The service cannot be trusted.')
      throw error
    }
    return { ...record }
  }

  return {
    boundToAction: false,
    request,
    status: async (request_id) => ({ ...(await refresh(find(request_id))) }),
    wait: async (request_id, seconds, signal) => {
      const record = find(request_id)
      const until = now().getTime() + seconds * 1000
      while ((await refresh(record)).status === 'pending' && now().getTime() < until)
        await sleep(pollMs, signal)
      return { ...record }
    },
    // The prompt on the phone cannot be withdrawn, but its answer no longer counts.
    cancel: async (request_id) => {
      const record = find(request_id)
      if (record.status === 'pending') end(record, 'expired', 'Withdrawn.')
    },
  }
}
