import { argsOf, fieldsOf } from '../contract/describe.ts'
import type { Effect, Operation } from '../contract/operation.ts'
import { pathNames } from '../contract/path.ts'
import { interrupted, SvcError, usageError } from '../core/errors.ts'
import { readAnswer } from './answer.ts'
import type { Answer, CallOptions, Client } from './client.ts'
import { requireFiltered } from './ignored-filters.ts'
import { linkedPage } from './paging.ts'
import { redactedUrl, planRequest, rawUrl } from './request.ts'
import { sleepFor } from '../core/sleep.ts'
import { isTemporary, maxAttempts, neverSent, retryAfterMs, retryDelayMs } from './retry.ts'
import type { HttpRequest, HttpResponse, Transport } from '../core/transport.ts'

type Options = {
  /** The API root: `https://host/admin/public/api`. */
  baseUrl: string
  /** The key for this address; read before each call. `refused`: the one that is not accepted any more, if a renewal replaced it. */
  apiKey(url: string, refused?: string): Promise<string | undefined>
  /** What to do if there is no key, or the service does not accept it. */
  keyHint?: string
  transport: Transport & { close?(): Promise<void> }
  now?(): Date
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
  random?(): number
  /** Id of the approval for the current writes, sent with each write for the audit log. */
  approval?: (() => string | undefined) | undefined
  /** Why, sent with each write for the rules of the organization that require a reason. */
  reason?: (() => string | undefined) | undefined
  /** Writes one line per request and answer, without secrets. */
  debug?: ((line: string) => void) | undefined
}

type Sending = { effect: Effect; signal?: AbortSignal | undefined; shownUrl: string }

/** How long a sign-in takes to save a key that it has renewed. */
const renewalMs = 1_000

/** The field that --org sets. */
const orgFieldOf = (operation: Operation): string | undefined =>
  fieldsOf(operation).find(({ flag, name }) => flag === 'org' && !argsOf(operation).includes(name))?.name

const listed =
  /^(?:user pending|notify outbox|org auth-code|approve|geofence|grant|group|iot|key|org|rule|timeslot|user|webhook)\b/

/** For the hint of a refusal: whether the command has --org, and which one lists what it takes. */
const hintsOf = (operation: Operation, input: Record<string, unknown>) => {
  const field = orgFieldOf(operation)
  const [words] = listed.exec(operation.cli) ?? []
  const org = field === undefined ? undefined : input[field]
  const list = words && `svc ${words} list${org === undefined ? '' : ` --org ${String(org)}`}`
  return { takesOrg: field !== undefined, list }
}

/** The page size limit of our service. */
const mostPerPage = 1_000

/** Whether the service may send a list in pages, although the caller named no limit: `call` and `pages` read all of them. */
const prefersPages = (operation: Operation, input: Record<string, unknown>): boolean =>
  input.limit === undefined && fieldsOf(operation).some(({ name }) => name === 'cursor')

/** Whether there are fields to check; if not, the validator is not loaded. */
const hasShownFields = (operation: Operation, input: Record<string, unknown>): boolean =>
  pathNames(operation.path).length > 0 ||
  fieldsOf(operation).some(({ path, meta }) => meta.source === 'shown' && Object.hasOwn(input, path[0]!))

export const createClient = (options: Options): Client => {
  const { baseUrl, transport, debug, keyHint = 'svc profile login' } = options
  const { now = () => new Date(), sleep = sleepFor, random = Math.random } = options
  let isIdempotent: Promise<boolean> | undefined
  let accepted: string | undefined

  const sendOnce = async (
    request: HttpRequest,
    shownUrl: string,
    signal?: AbortSignal,
  ): Promise<HttpResponse | SvcError> => {
    debug?.(`> ${request.method} ${shownUrl}`)
    try {
      const response = await transport(request, signal)
      debug?.(`< ${response.status} ${response.headers['x-request-id'] ?? ''}`.trimEnd())
      return response
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      debug?.(`< ${error.code}: ${error.message}`)
      if (error.exit === 'interrupted') throw error
      return error
    }
  }

  /** Whether the service declares that it carries out writes with the same Idempotency-Key once. Sent without a key. */
  const honoursIdempotency = async (signal?: AbortSignal): Promise<boolean> => {
    const url = `${new URL(baseUrl).origin}/health`
    const health = await sendOnce(
      { method: 'GET', url, headers: { accept: 'application/json' } },
      url,
      signal,
    )
    return !(health instanceof SvcError) && health.status === 200 && 'svc-idempotency' in health.headers
  }

  const mayRepeat = async (
    effect: Effect,
    outcome: HttpResponse | SvcError,
    signal?: AbortSignal,
  ): Promise<boolean> => {
    if (effect === 'notifies' || !isTemporary(outcome)) return false
    if (effect === 'read' || neverSent(outcome)) return true
    isIdempotent ??= honoursIdempotency(signal)
    return isIdempotent
  }

  const send = async (request: HttpRequest, { effect, signal, shownUrl }: Sending): Promise<HttpResponse> => {
    for (let attempt = 1; ; attempt += 1) {
      if (signal?.aborted) throw interrupted()
      const outcome = await sendOnce(request, shownUrl, signal)
      const afterMs =
        outcome instanceof SvcError ? undefined : retryAfterMs(outcome.headers['retry-after'], now())
      const delay = retryDelayMs(attempt + 1, afterMs, random)
      if (attempt < maxAttempts && delay !== undefined && (await mayRepeat(effect, outcome, signal))) {
        debug?.(`  retry in ${Math.round(delay)} ms`)
        await sleep(delay, signal)
        continue
      }
      if (outcome instanceof SvcError) throw outcome
      return outcome
    }
  }

  const headersFor = async (
    url: string,
    effect: Effect,
    { idempotencyKey, approval }: Pick<CallOptions, 'idempotencyKey' | 'approval'> = {},
  ): Promise<Record<string, string>> => {
    const key = await options.apiKey(url)
    if (!key)
      throw new SvcError('forbidden', 'no_key', 'There is no API key for this service', { hint: keyHint })
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'svc',
      'x-api-key': key,
    }
    if (effect === 'read') return headers
    const approved = approval ?? options.approval?.()
    const reason = effect === 'notifies' ? undefined : options.reason?.()
    return {
      ...headers,
      'idempotency-key': idempotencyKey ?? (await import('node:crypto')).randomUUID(),
      ...(approved === undefined ? {} : { 'x-svc-approval': approved }),
      ...(reason === undefined ? {} : { 'x-svc-reason': encodeURIComponent(reason) }),
    }
  }

  /**
   * Reads once more if the key was accepted before and was renewed meanwhile, by a sign-in in another terminal. That saves it a
   * moment after it ended the former one.
   */
  const sendRenewed: typeof send = async (request, sending) => {
    const response = await send(request, sending)
    const key = request.headers['x-api-key']!
    if (response.status < 300) accepted = key
    if (response.status !== 401 || sending.effect !== 'read' || accepted !== key) return response
    await sleep(renewalMs, sending.signal)
    const renewed = await options.apiKey(request.url, key)
    if (renewed === undefined || renewed === key) return response
    Object.assign(request.headers, { 'x-api-key': renewed })
    return send(request, sending)
  }

  async function* pages(
    operation: Operation,
    input: Record<string, unknown>,
    { extra, signal, ...sent }: CallOptions = {},
  ): AsyncGenerator<Answer, void> {
    if (hasShownFields(operation, input))
      (await import('./shown-fields.ts')).checkShownFields(operation, input)
    const { method, url, body } = planRequest(baseUrl, operation, input, extra)
    const { effect } = operation
    const headers: Record<string, string> = {
      ...(await headersFor(url, effect, sent)),
      // Ignored by a service that does not know it. An unknown field in the query may be refused.
      ...(prefersPages(operation, input) && { prefer: `maxpagesize=${mostPerPage}` }),
    }
    // By this field, and no other, a caller asks the service to delay its answer.
    const wait = typeof input.wait_s === 'number' ? { waitMs: input.wait_s * 1000 } : {}
    const seen = new Set<string>()
    let at: string | undefined = url
    while (at !== undefined && !seen.has(at)) {
      seen.add(at)
      const request = { method, url: at, headers, ...(body && { body: JSON.stringify(body) }), ...wait }
      const sending = { effect, signal, shownUrl: redactedUrl(at, operation, input) }
      const response = await sendRenewed(request, sending)
      const { date, link } = response.headers
      const context = response.status < 300 ? {} : { keyHint, ...hintsOf(operation, input) }
      const answer: Answer = { ...readAnswer(response, at, context), ...(date === undefined ? {} : { date }) }
      const isList = method === 'GET' && Array.isArray(answer.envelope.data)
      if (!isList && seen.size > 1) return
      if (effect === 'read') requireFiltered(operation, input, answer.envelope.data)
      const next: string | undefined = isList ? linkedPage(link, at) : undefined
      yield isList ? { ...answer, links: { next } } : answer
      at = next
    }
  }

  const call = async (
    operation: Operation,
    input: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<Answer> => {
    let first: Answer | undefined
    const all: unknown[] = []
    for await (const page of pages(operation, input, options)) {
      first ??= page
      const { data } = page.envelope
      if (!Array.isArray(data) || input.limit !== undefined) break
      for (const row of data) all.push(row)
    }
    const { envelope } = first!
    const isList = Array.isArray(envelope.data) && input.limit === undefined
    return isList ? { ...first!, links: {}, envelope: { ...envelope, data: all } } : first!
  }

  const raw: Client['raw'] = async ({ method, path, body, headers, effect }, { signal } = {}) => {
    if (!path.startsWith('/')) throw usageError(`A path must start with /, not ${JSON.stringify(path)}`)
    const url = rawUrl(baseUrl, path)
    const own = await headersFor(url, effect)
    const request = { method, url, headers: { ...own, ...headers, 'x-api-key': own['x-api-key']! }, body }
    return send(request, { effect, signal, shownUrl: redactedUrl(url) })
  }

  return {
    // The only place where an answer gets the data type of its operation.
    call: call as Client['call'],
    pages: pages as Client['pages'],
    raw,
    close: async () => transport.close?.(),
  }
}
