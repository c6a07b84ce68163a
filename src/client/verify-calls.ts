import type { ApprovalState } from '../contract/approval.ts'
import { SvcError } from '../core/errors.ts'
import { isRecord } from '../core/is-record.ts'
import { parseJson } from '../core/parse-json.ts'
import { safeLine } from '../core/safe-text.ts'
import type { Client } from './client.ts'

/** How long a prompt can stay on a phone. spec: not shown */
export const promptMs = 600_000

/** The fields of an answer that can describe a decision. */
type VerifyAnswer = {
  http: number
  status?: unknown
  code?: unknown
  message?: unknown
  request_id?: unknown
}

export type Phone = { country_code: string; mobile: string }

const words: Record<string, ApprovalState> = {
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

/** Whether the service has a temporary problem, which is not a decision. */
export const isTransient = ({ http }: VerifyAnswer): boolean => http === 429 || http >= 500

/** The decision in an answer of `/validate/global/auth`; undefined if it is unclear. spec: not shown */
export const decisionOf = (answer: VerifyAnswer): ApprovalState | undefined => {
  const { http, status, code } = answer
  if (http >= 200 && http < 300 && status === 'success') return 'approved'
  const word = words[String(code).toLowerCase()] ?? words[String(status).toLowerCase()]
  if (word) return word
  if (http === 409 || isTransient(answer)) return 'pending'
  if (http === 410) return 'expired'
  // The specification reports a negative decision as a status other than success.
  if (http === 403 || (http < 300 && typeof status === 'string')) return 'denied'
  return undefined
}

export const refusedBy = (what: string, { http, message }: VerifyAnswer): SvcError => {
  const reason =
    typeof message === 'string' ? safeLine(message.slice(0, 300)) : `the service answered ${http}`
  return new SvcError('failed', 'refused', `${what}: ${reason}`)
}

/** A service that reports success for an unanswered prompt cannot be trusted with any prompt. */
export const successTooSoon = (): SvcError =>
  new SvcError(
    'failed',
    'success_too_soon',
    'The service reported success before the person can have answered, so svc does not trust its answers',
    {
      detail: 'The person was asked. This is not an approval.',
      hint: 'svc profile set verify_fallback=false; svc doctor --verify-fallback +12025550101 tests the service again',
    },
  )

/** Calls `/verify-user` and `/validate/global/auth` of any service of the contract. */
export const createVerifyCalls = (client: Client) => {
  const post = async (
    path: string,
    fields: Record<string, unknown>,
    // An answer is reported once, so only a service with idempotency keys is asked again.
    effect: 'notifies' | 'write',
    signal?: AbortSignal,
  ): Promise<VerifyAnswer> => {
    const request = { method: 'POST', path, body: JSON.stringify(fields), effect }
    const response = await client.raw(request, { signal })
    const answer = parseJson(response.body)
    if (!isRecord(answer)) return { http: response.status }
    const { status, message, data } = answer
    const { code, request_id } = isRecord(data) ? data : {}
    return { http: response.status, status, message, code, request_id }
  }

  return {
    /** Sends the prompt; returns its request id, if the service has one. */
    sendPrompt: async (phone: Phone, signal?: AbortSignal): Promise<string | undefined> => {
      const answer = await post('/verify-user', phone, 'notifies', signal)
      if (answer.http >= 300 || answer.status !== 'success') throw refusedBy('No one was notified', answer)
      return typeof answer.request_id === 'string' ? answer.request_id : undefined
    },
    readDecision: (
      mobile: string,
      request_id: string | undefined,
      signal?: AbortSignal,
    ): Promise<VerifyAnswer> =>
      post(
        '/validate/global/auth',
        { mobile, ...(request_id !== undefined && { request_id }) },
        'write',
        signal,
      ),
  }
}

export type VerifyCalls = ReturnType<typeof createVerifyCalls>
