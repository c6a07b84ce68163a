import type { ApprovalRecord } from '../contract/approval.ts'
import type { Asker } from '../contract/asker.ts'
import { SvcError } from '../core/errors.ts'
import { randomToken } from '../core/ids.ts'
import { safeLine } from '../core/safe-text.ts'
import type { Client } from './client.ts'
import { sleepFor } from './retry.ts'

const pollMs = 2_000
const lifetimeSeconds = 120
/** As long as a prompt may stand on a phone; no request lives longer. spec: not shown */
const promptMs = 600_000

type Options = {
  client: Client
  /** Parts a number in E.164 into its dialing prefix and the rest. */
  partsOf(mobile: string): { country_code: string; mobile: string }
  now?(): Date
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
}

type Said = { http: number; status?: unknown; code?: unknown; message?: unknown; request_id?: unknown }

const words: Record<string, ApprovalRecord['status']> = {
  pending: 'pending',
  waiting: 'pending',
  denied: 'denied',
  rejected: 'denied',
  declined: 'denied',
  fail: 'denied',
  failed: 'denied',
  expired: 'expired',
  timeout: 'expired',
}

/** What an answer of `/validate/global/auth` means; undefined where it means none. spec: not shown */
const decisionOf = ({ http, status, code }: Said): ApprovalRecord['status'] | undefined => {
  if (http >= 200 && http < 300 && status === 'success') return 'approved'
  const word = words[String(code).toLowerCase()] ?? words[String(status).toLowerCase()]
  if (word) return word
  // Only a plain success approves. A service that is unwell for a moment has not decided.
  if (http === 409 || http === 429 || http >= 500) return 'pending'
  if (http === 410) return 'expired'
  return http === 403 || http < 300 ? 'denied' : undefined
}

const refused = (what: string, { http, message }: Said): SvcError => {
  const said = typeof message === 'string' ? safeLine(message.slice(0, 300)) : `it answered ${http}`
  return new SvcError('failed', 'refused', `${what}: ${said}`)
}

/**
 * Asks through a service of the contract that has no approvals: it rings a phone and tells whether the person
 * authenticated. The person never sees the action, and two questions to one phone could not be told apart; so one
 * at a time.
 */
export const createVerifyAsker = ({
  client,
  partsOf,
  now = () => new Date(),
  sleep = sleepFor,
}: Options): Asker => {
  const requests = new Map<string, ApprovalRecord>()
  /** How the service names a request, where it does. */
  const names = new Map<string, string>()

  const post = async (
    path: string,
    fields: Record<string, unknown>,
    // The answer is told once: only a service that knows a repeat by its key is asked again.
    effect: 'rings' | 'write',
  ): Promise<Said> => {
    const response = await client.raw({ method: 'POST', path, body: JSON.stringify(fields), effect })
    try {
      const { status, message, data } = JSON.parse(response.body)
      return { http: response.status, status, message, code: data?.code, request_id: data?.request_id }
    } catch {
      return { http: response.status }
    }
  }

  const end = (record: ApprovalRecord, status: ApprovalRecord['status'], detail: string): void => {
    Object.assign(record, { status, detail, decided_at: now().toISOString() })
  }

  const look = async (record: ApprovalRecord): Promise<ApprovalRecord> => {
    if (record.status !== 'pending') return record
    const named = names.get(record.request_id)
    const fields = { mobile: record.approver_mobile, ...(named !== undefined && { request_id: named }) }
    const said = await post('/validate/global/auth', fields, 'write')
    if (record.status !== 'pending') return record
    const decision = decisionOf(said)
    if (decision === undefined) throw refused('The service does not tell the decision', said)
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

  const request: Asker['request'] = async (ask) => {
    const { action, reason, approver_mobile, requester, lifetime_s = lifetimeSeconds } = ask
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
            hint: 'wait until check_status tells how that one ended',
          },
        )
      requests.delete(id)
      names.delete(id)
    }
    const record: ApprovalRecord = {
      request_id: `verify_${randomToken(9)}`,
      org_id: ask.org_id ?? 0,
      status: 'pending',
      action,
      reason: reason ?? null,
      requester: requester ?? 'svc',
      verified_as: null,
      approver_mobile,
      factors: ['biometric'],
      number: null,
      detail: null,
      requested_at: new Date(at).toISOString(),
      expires_at: new Date(at + Math.min(lifetime_s * 1000, promptMs)).toISOString(),
      decided_at: null,
      ruling: null,
      attestation: null,
    }
    // Taken before the phone rings, so that a second question cannot slip in.
    requests.set(record.request_id, record)
    try {
      const said = await post('/verify-user', partsOf(approver_mobile), 'rings')
      if (said.http >= 300 || said.status !== 'success') throw refused('The phone was not rung', said)
      if (typeof said.request_id === 'string') names.set(record.request_id, said.request_id)
    } catch (error) {
      requests.delete(record.request_id)
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
