import type { Context } from 'hono'
import { Refusal } from '../../../core/refusal.ts'
import type { MountedRoute, Trace } from '../../http/routes.ts'

const headersFor = (requestId: string) => ({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId,
})

export const json = (status: number, body: object, requestId: string): Response =>
  Response.json(body, { status, headers: headersFor(requestId) })

/** A page for a person whose client sent a request that cannot be answered at its own address. */
export const plainPage = (status: number, text: string, requestId: string): Response =>
  new Response(`${text}\n`, {
    status,
    headers: { ...headersFor(requestId), 'content-type': 'text/plain; charset=utf-8' },
  })

export type OAuthErrorCode =
  | 'access_denied'
  | 'authorization_pending'
  | 'expired_token'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

/** An error that OAuth clients read: `error` is for the program, the message for the person. */
export class OAuthProblem extends Error {
  readonly error: OAuthErrorCode
  readonly status: number
  constructor(error: OAuthErrorCode, message: string, status = 400) {
    super(message)
    this.error = error
    this.status = status
  }
}

/** As Refusals of the service say it: a rate limit or an outage keeps its status and headers. */
const refused = ({ status, message, headers }: Refusal, requestId: string): Response => {
  const error = status === 429 || status === 503 ? 'temporarily_unavailable' : 'invalid_request'
  const response = json(status, { error, error_description: message }, requestId)
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

/** A route whose errors are those of OAuth. */
export const oauthRoute = (
  method: 'GET' | 'POST',
  path: string,
  respond: (context: Context, trace: Trace) => Promise<Response>,
): MountedRoute => ({
  method,
  path,
  isHidden: true,
  respond: async (context, trace) => {
    try {
      return await respond(context, trace)
    } catch (error) {
      if (error instanceof OAuthProblem)
        return json(error.status, { error: error.error, error_description: error.message }, trace.id)
      if (error instanceof Refusal) return refused(error, trace.id)
      throw error
    }
  },
})

/** The parameters of a request, each at most once (RFC 6749, section 3.1). Empty ones count as missing. */
export const readParameters = (given: URLSearchParams): Record<string, string | undefined> => {
  const seen = new Map<string, string>()
  for (const [name, value] of given) {
    if (seen.has(name)) throw new OAuthProblem('invalid_request', `${safeName(name)} is sent more than once`)
    if (value.includes('\0'))
      throw new OAuthProblem('invalid_request', `${safeName(name)} contains a zero byte`)
    seen.set(name, value)
  }
  return Object.fromEntries([...seen].filter(([, value]) => value !== ''))
}

const safeName = (name: string): string => (/^[\w-]{1,40}$/.test(name) ? name : 'A parameter')
