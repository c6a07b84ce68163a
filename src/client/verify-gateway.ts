import type { ApprovalRecord } from '../contract/approval.ts'
import type { ApprovalGateway } from '../contract/approval-gateway.ts'
import { newRequest } from '../contract/new-request.ts'
import { SvcError } from '../core/errors.ts'
import { randomToken } from '../core/ids.ts'
import { sleepFor } from './retry.ts'
import {
  decisionOf,
  isPassing,
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
  /** Parts a number in E.164 into its dialing prefix and the rest. */
  partsOf(mobile: string): Phone
  now?(): Date
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
}

/**
 * Asks through a service of the contract that has no approvals: it rings a phone and tells whether the person
 * authenticated. The person never sees the action, and two questions to one phone could not be told apart; so one
 * at a time. Only for a service that `verify-test.ts` has tested.
 */
export const createVerifyGateway = ({
  calls,
  partsOf,
  now = () => new Date(),
  sleep = sleepFor,
}: Options): ApprovalGateway => {
  const requests = new Map<string, ApprovalRecord>()
  /** How the service names a request, where it does. */
  const names = new Map<string, string>()
  /** Requests of which the service has said, before anything else, that they are no success. */
  const open = new Set<string>()

  const end = (record: ApprovalRecord, status: ApprovalRecord['status'], detail: string): void => {
    Object.assign(record, { status, detail, decided_at: now().toISOString() })
  }

  const look = async (record: ApprovalRecord): Promise<ApprovalRecord> => {
    if (record.status !== 'pending') return record
    const named = names.get(record.request_id)
    const said = await calls.look(record.approver_mobile, named)
    if (record.status !== 'pending') return record
    if (named !== undefined && said.request_id !== undefined && said.request_id !== named)
      throw refusedBy('The service answered about another request', { http: said.http })
    const decision = decisionOf(said)
    if (decision === undefined) throw refusedBy('The service does not report the decision', said)
    if (decision === 'approved' && !open.has(record.request_id)) {
      end(record, 'expired', 'Not believed.')
      throw successTooSoon()
    }
    if (!isPassing(said)) open.add(record.request_id)
    const late = record.expires_at <= now().toISOString()
    if (late) end(record, 'expired', 'Nobody answered in time.')
    else if (decision !== 'pending')
      end(record, decision, 'The person was asked to authenticate, and was not shown the action.')
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
        'This service checks no number and no factor but biometric',
      )
    const at = now().getTime()
    for (const [id, other] of requests) {
      if (other.approver_mobile !== approver_mobile) continue
      // A prompt that was withdrawn or ran out may still stand on the phone, and its answer must not count for this one.
      const undecided = other.status === 'pending' || other.status === 'expired'
      if (undecided && Date.parse(other.requested_at) + promptMs > at)
        throw new SvcError(
          'refused',
          'one_at_a_time',
          'This person is being asked already: one request at a time',
          {
            hint: 'Wait until check_status shows how that one ended',
          },
        )
      requests.delete(id)
      names.delete(id)
      open.delete(id)
    }
    const seconds = Math.min(lifetime_s, promptMs / 1000)
    const record: ApprovalRecord = {
      ...newRequest(ask, { request_id: `verify_${randomToken(9)}`, at, seconds }),
      factors: ['biometric'],
    }
    // Taken before the phone rings, so that a second question cannot slip in.
    requests.set(record.request_id, record)
    try {
      const named = await calls.ring(partsOf(approver_mobile))
      if (named !== undefined) names.set(record.request_id, named)
    } catch (error) {
      requests.delete(record.request_id)
      throw error
    }
    try {
      // At once, because nobody can have answered yet.
      await look(record)
    } catch (error) {
      // The prompt is on the phone, so no other one may start.
      end(record, 'expired', 'Not believed.')
      throw error
    }
    return { ...record }
  }

  return {
    boundToAction: false,
    request,
    status: async (request_id) => ({ ...(await look(find(request_id))) }),
    wait: async (request_id, seconds, signal) => {
      const record = find(request_id)
      const until = now().getTime() + seconds * 1000
      while ((await look(record)).status === 'pending' && now().getTime() < until) await sleep(pollMs, signal)
      return { ...record }
    },
    // The prompt on the phone cannot be taken back; what it answers is not believed any more.
    cancel: async (request_id) => {
      const record = find(request_id)
      if (record.status === 'pending') end(record, 'expired', 'Withdrawn.')
    },
  }
}
