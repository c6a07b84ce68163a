import type { ApprovalState } from '../contract/approval.ts'
import { SvcError } from '../core/errors.ts'
import { isRecord } from '../core/is-record.ts'
import { parseJson } from '../core/parse-json.ts'
import { safeLine } from '../core/safe-text.ts'
import type { Client } from './client.ts'

/** How long a prompt may stay on a phone. spec: not shown */
export const promptMs = 600_000

/** What of an answer says something about a decision. */
type Said = { http: number; status?: unknown; code?: unknown; message?: unknown; request_id?: unknown }

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

/** Whether the service is unwell for a moment, which decides nothing. */
export const isPassing = ({ http }: Said): boolean => http === 429 || http >= 500

/** What an answer of `/validate/global/auth` means; undefined where it cannot be told. spec: not shown */
export const decisionOf = (said: Said): ApprovalState | undefined => {
  const { http, status, code } = said
  if (http >= 200 && http < 300 && status === 'success') return 'approved'
  const word = words[String(code).toLowerCase()] ?? words[String(status).toLowerCase()]
  if (word) return word
  if (http === 409 || isPassing(said)) return 'pending'
  if (http === 410) return 'expired'
  // The specification reports a negative decision as a status other than success.
  if (http === 403 || (http < 300 && typeof status === 'string')) return 'denied'
  return undefined
}

export const refusedBy = (what: string, { http, message }: Said): SvcError => {
  const said = typeof message === 'string' ? safeLine(message.slice(0, 300)) : `it answered ${http}`
  return new SvcError('failed', 'refused', `${what}: ${said}`)
}

/** A service that calls an open question a success would call each one that. */
export const successTooSoon = (): SvcError =>
  new SvcError(
    'failed',
    'success_too_soon',
    'The service reported success before the person can have answered, so svc believes none of its answers',
    {
      detail: 'The person was asked. This is not an approval.',
      hint: 'svc profile set verify_fallback=false; svc doctor --verify-fallback +12025550101 tests the service again',
    },
  )

/** `/verify-user` and `/validate/global/auth` of any service of the contract. */
export const createVerifyCalls = (client: Client) => {
  const post = async (
    path: string,
    fields: Record<string, unknown>,
    // The answer is told once: only a service that knows a repeat by its key is asked again.
    effect: 'notifies' | 'write',
    signal?: AbortSignal,
  ): Promise<Said> => {
    const request = { method: 'POST', path, body: JSON.stringify(fields), effect }
    const response = await client.raw(request, { signal })
    const answer = parseJson(response.body)
    if (!isRecord(answer)) return { http: response.status }
    const { status, message, data } = answer
    const { code, request_id } = isRecord(data) ? data : {}
    return { http: response.status, status, message, code, request_id }
  }

  return {
    /** Sends the prompt; answers the name that the service gives it, if it does. */
    ring: async (phone: Phone, signal?: AbortSignal): Promise<string | undefined> => {
      const said = await post('/verify-user', phone, 'notifies', signal)
      if (said.http >= 300 || said.status !== 'success') throw refusedBy('The phone was not rung', said)
      return typeof said.request_id === 'string' ? said.request_id : undefined
    },
    look: (mobile: string, request_id: string | undefined, signal?: AbortSignal): Promise<Said> =>
      post(
        '/validate/global/auth',
        { mobile, ...(request_id !== undefined && { request_id }) },
        'write',
        signal,
      ),
  }
}

export type VerifyCalls = ReturnType<typeof createVerifyCalls>
