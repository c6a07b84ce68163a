import { SvcError, type Issue } from '../core/errors.ts'
import { exitOfAnswer } from '../core/exit-codes.ts'
import { isRecord } from '../core/is-record.ts'
import { parseJson } from '../core/parse-json.ts'
import { safeLine } from '../core/safe-text.ts'
import { shellQuote } from '../core/shell-quote.ts'
import { apiRoot } from './address.ts'
import type { Answer } from './client.ts'
import { hostOf } from '../core/network-error.ts'
import { retryAfterMs } from './retry.ts'
import type { HttpResponse } from '../core/transport.ts'

const isEnvelope = (value: unknown): value is Answer['envelope'] =>
  isRecord(value) && typeof value.status === 'string'

/** Text of the server, made safe for one line of an error; undefined if there is none. */
const lineOf = (value: unknown, most = 500): string | undefined =>
  typeof value === 'string' && value !== '' ? safeLine(value.slice(0, most)) : undefined

const issuesOf = (value: unknown): Issue[] | undefined => {
  if (!Array.isArray(value)) return undefined
  const issues = value.flatMap((issue): Issue[] => {
    const field = isRecord(issue) ? lineOf(issue.field, 200) : undefined
    return field && isRecord(issue) ? [{ field, message: lineOf(issue.message) ?? 'is not valid' }] : []
  })
  return issues.length > 0 ? issues.slice(0, 100) : undefined
}

const rootHint = 'The API root ends in /admin/public/api: svc profile show --explain shows the address in use'

/** A route that the service does not have, usually because the base URL lacks its path. */
const noRoute = (url: string): { message: string; hint: string } => {
  const { origin, pathname } = new URL(url)
  const message = `${hostOf(url)} has no route ${safeLine(pathname)}`
  if (!pathname.includes(apiRoot) && !pathname.startsWith('/svc/'))
    return {
      message: `${message}: the base URL must end in ${apiRoot}`,
      hint: `--base-url ${shellQuote(origin + apiRoot)}, or svc profile set NAME ${shellQuote(`base_url=${origin}${apiRoot}`)}`,
    }
  return { message, hint: `The routes of this service are listed at ${origin}/openapi.json` }
}

/** Details of a request for the hint of its error. */
export type RequestContext = {
  /** What to do if the key is not accepted. */
  keyHint?: string
  /** Whether the command has --org. */
  takesOrg?: boolean
  /** The command that lists what this one takes. */
  list?: string | undefined
}

const retryHint = (after: string | undefined): string => {
  if (after === undefined) return 'Try again later'
  return /^\d{1,9}$/.test(after)
    ? `Try again in ${after} s`
    : `Try again later (Retry-After: ${safeLine(after)})`
}

/** What to type next, if the service gives no hint. */
const hintFor = (
  status: number,
  after: string | undefined,
  { keyHint = 'svc profile login', takesOrg = false, list = 'svc whoami' }: RequestContext,
): string | undefined => {
  if (status === 401) return keyHint
  if (status === 403) return 'Use a key with the required scope: svc profile list, --profile NAME'
  if (status === 404)
    return `Check the id${takesOrg ? ' and --org' : ''}. You only see resources that your key can access: ${list}`
  return status === 429 ? retryHint(after) : undefined
}

const isPage = (response: HttpResponse): boolean =>
  /\bhtml\b/i.test(response.headers['content-type'] ?? '') || /^\s*</.test(response.body)

const redirected = (response: HttpResponse, url: string): SvcError => {
  const to = response.headers['location']
  const there = to !== undefined && URL.canParse(to, url) ? new URL(to, url) : undefined
  const where = there?.host ? `${there.protocol}//${safeLine(there.host)}` : 'elsewhere'
  return new SvcError(
    'failed',
    'redirected',
    `${hostOf(url)} answers with a redirect (${response.status}) to ${where}; it was not followed, and no key was sent there`,
    { hint: 'If the service has moved: svc profile set base_url …, then svc profile login' },
  )
}

const httpDetails = ({ status, headers }: HttpResponse) => ({
  http_status: status,
  retry_after_ms: retryAfterMs(headers['retry-after'], new Date()),
})

/** What is wrong with an answer that is not an envelope, and what to do. A balancer or proxy writes its own for a 5xx. */
const explain = (response: HttpResponse, context: RequestContext): { what: string; hint: string } => {
  const { status, headers, body } = response
  const after = headers['retry-after']
  if (status === 511)
    return { what: 'this network requires a sign-in', hint: 'Sign in to the network with a browser first' }
  if (status >= 500)
    return {
      what: [502, 503, 504].includes(status)
        ? 'the service is not available'
        : 'the service, or a proxy in front of it, has failed',
      hint: `${retryHint(after)}. svc doctor shows the address in use and whether it answers`,
    }
  const isSuccess = status < 300
  const hint = (isSuccess || status === 404 ? undefined : hintFor(status, after, context)) ?? rootHint
  if (isPage(response))
    return {
      what:
        'this address answered with a web page. Check that it is the API root, which ends in /admin/public/api' +
        (isSuccess ? ', or that this network does not require a sign-in' : ''),
      hint,
    }
  return { what: body.trim() === '' ? 'the answer is empty' : 'the answer is not JSON with a status', hint }
}

/** The error for an answer that is not an envelope. */
const notAnEnvelope = (response: HttpResponse, url: string, context: RequestContext): SvcError => {
  const { status, headers } = response
  const { what, hint } = explain(response, context)
  const ok = status < 300
  return new SvcError(
    ok ? 'failed' : exitOfAnswer(status),
    ok ? 'unexpected_answer' : `http_${status}`,
    `${hostOf(url)} answered ${status}: ${what}`,
    { hint, request_id: lineOf(headers['x-request-id'], 100), ...httpDetails(response) },
  )
}

/** Reads the envelope of an answer. Throws an SvcError unless it is a 2xx with the status `success`. */
export const readAnswer = (response: HttpResponse, url: string, context: RequestContext = {}): Answer => {
  const { status, headers, body } = response
  if (status >= 300 && status < 400) throw redirected(response, url)
  const envelope = parseJson(body)
  if (!isEnvelope(envelope)) throw notAnEnvelope(response, url, context)
  const requestId = lineOf(headers['x-request-id'], 100)
  if (status < 300 && envelope.status === 'success') return { httpStatus: status, requestId, envelope }

  const data = isRecord(envelope.data) ? envelope.data : {}
  const code = lineOf(data.code, 100)
  const fallback = status < 300 ? 'unexpected_answer' : `http_${status}`
  const exit = exitOfAnswer(status, code)
  const list = /^Organization\b/.test(String(envelope.message)) ? 'svc org list' : context.list
  const hint = hintFor(status, headers['retry-after'], { ...context, list })
  // The messages of the service for these are for people who write requests; svc writes its own.
  const known =
    code === 'no_such_route'
      ? noRoute(url)
      : code === 'unauthenticated'
        ? { message: `${hostOf(url)} does not accept this API key`, hint }
        : code === 'key_expired' || code === 'signed_out'
          ? { message: lineOf(envelope.message), hint }
          : undefined
  throw new SvcError(
    exit,
    code ?? fallback,
    known?.message ??
      lineOf(envelope.message) ??
      `The service answered ${status} with the status ${lineOf(envelope.status, 100) ?? '""'}`,
    {
      detail: lineOf(data.detail, 2000),
      issues: issuesOf(data.issues),
      // Another key does not change a decision.
      hint: known?.hint ?? lineOf(data.hint) ?? (exit === 'denied' ? undefined : hint),
      request_id: requestId ?? lineOf(data.request_id, 100),
      ...httpDetails(response),
      data,
    },
  )
}
