import type { Data, Input } from '../../contract/operation.ts'
import { fillPath } from '../../contract/path.ts'
import type { Table } from '../../contract/table.ts'
import { isKey, t } from '../language/text.ts'
import { dateText } from '../language/time.ts'
import { howToConfirm } from './confirmation.ts'

/** The operations that need no key. */
type Name = {
  [K in keyof Table]: Table[K] extends { session: true } | { open: true } ? K : never
}[keyof Table]

/** Filled in by the build from the contract, so that the page does not need its validators. */
declare const ROUTES: Record<Name, readonly [method: 'GET' | 'POST' | 'DELETE', path: string]>

/** What this phone needs before it can approve anything. */
export type Waiting = {
  proof: 'link' | 'otp' | 'device' | 'admin'
  active_from: string | null
  /** Both screens show it. */
  comparison_code: string
}

/** A new device of the same person that is not active yet. */
export type Newcomer = { id: string; active_from: string | null }

/** Details of a refusal, in addition to its message. */
type Details = {
  code?: unknown
  hint?: unknown
  device?: Waiting
  pending?: Newcomer[]
  [field: string]: unknown
}

/** What a code of the service means for the person, in their language; its English message, if the page does not know the code. */
const meaningOf = (code: string, message: string, { hint, from }: Details): string => {
  const key = `refused.${code.replace(/^(already|user)_.*/, '$1_changed')}`
  if (!isKey(key)) return message
  if (code === 'admin_too_new') return t('refused.admin_too_new', { date: dateText(String(from)) })
  // Only this text names what the service says to do next.
  return t(key as 'refused.link_not_sent', { next: String(hint) })
}

/** The service refused. `code` is for the program, `message` for the person. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly data: Details
  constructor(status: number, message: string, data: Details = {}) {
    const code = typeof data.code === 'string' ? data.code : ''
    super(meaningOf(code, message, data))
    this.status = status
    this.code = code
    this.data = data
  }
}

/** No answer: the request may or may not have arrived. */
export class Unreachable extends Error {
  constructor() {
    super(t('common.unreachableTitle'))
  }
}

type Success<D> = { status: 'success'; data: D }
type Refusal = { message: string; data: Details & { code: string } }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

// A proxy or a captive portal may answer with any status and any body. Only these two forms come from the service.
const isSuccess = <D>(body: unknown): body is Success<D> => isObject(body) && body['status'] === 'success'
const isRefusal = (body: unknown): body is Refusal =>
  isObject(body) &&
  typeof body['message'] === 'string' &&
  isObject(body['data']) &&
  typeof body['data']['code'] === 'string'

const planned = ([method, path]: (typeof ROUTES)[Name], input: Record<string, unknown>) => {
  const rest = { ...input }
  const url = fillPath(path, (name) => {
    const value = String(rest[name])
    // A browser would take it for a step up in the path, also if it is encoded.
    if (/^\.\.?$/.test(value)) throw new Refused(404, '', { code: 'not_found' })
    delete rest[name]
    return encodeURIComponent(value)
  })
  if (method === 'POST')
    return {
      url,
      init: { method, body: JSON.stringify(rest), headers: { 'content-type': 'application/json' } },
    }
  const query = new URLSearchParams(
    Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
  return { url: query.size ? `${url}?${query}` : url, init: { method, headers: {} } }
}

let current: number | undefined

/** From now on, calls are made in the session of this organization; without one, in any that the browser has. */
export const actFor = (org_id: number | undefined): void => {
  current = org_id
}

let tellAnswered: (() => void) | undefined

/** Tells of each answer of the service, which proves that there is a connection. */
export const watchAnswers = (tell: () => void): void => {
  tellAnswered = tell
}

const timeoutMs = 15_000
/** Longer than the service waits for a change. */
const waitTimeoutMs = 40_000
/** A person who has waited this long wants to know why. */
const slowMs = 3_000

/** Calls that have taken longer than `slowMs`. */
let slowCalls = 0
let tellSlow: ((isSlow: boolean) => void) | undefined

/** Tells whether an answer of the service is overdue. */
export const watchSlowCalls = (tell: (isSlow: boolean) => void): void => {
  tellSlow = tell
}

const countSlow = (more: 1 | -1): void => {
  slowCalls += more
  tellSlow?.(slowCalls > 0)
}

/** Sends a request and reads the JSON of its answer. Throws `Unreachable` if there is none in time. */
const exchange = async (
  url: string,
  init: RequestInit,
  { stop, slow, preloaded }: Options,
  waits: boolean,
) => {
  const own = new AbortController()
  const end = () => own.abort()
  const timer = setTimeout(end, waits ? waitTimeoutMs : timeoutMs)
  let counted = false
  const overdue = (): void => {
    if (slow) return slow()
    counted = true
    countSlow(1)
  }
  const slowTimer = waits ? undefined : setTimeout(overdue, slowMs)
  stop?.addEventListener('abort', end)
  try {
    const cache = preloaded ? 'default' : 'no-store'
    const response = await fetch(url, { ...init, signal: own.signal, cache, redirect: 'error' })
    const body: unknown = await response.json()
    return { response, body }
  } catch {
    throw new Unreachable()
  } finally {
    clearTimeout(timer)
    clearTimeout(slowTimer)
    if (counted) countSlow(-1)
    stop?.removeEventListener('abort', end)
  }
}

type Options = {
  stop?: AbortSignal
  /** Null: all of the browser. */
  org?: number | null | undefined
  /** Called when the answer is overdue, instead of those who watch slow calls. */
  slow?: () => void
  /** The same for each attempt of one write: if the answer to an attempt was lost, the next one gets it. See `onlyOnce`. */
  once?: string | undefined
  /** The request that others approved for this call. */
  approval?: string | undefined
  /** Why, if a rule asks for it. */
  reason?: string | undefined
  /** The browser has begun this call before the script was there. */
  preloaded?: boolean
}

/** Identifies one write. */
export const onlyOnce = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-')

const send = async <K extends Name>(
  name: K,
  input: Input<Table[K]>,
  options: Options = {},
): Promise<Data<Table[K]>> => {
  // A browser repeats a call whose connection was reset, and the signature in it counts once.
  const { org, once = 'challenge' in input ? onlyOnce() : undefined, approval, reason } = options
  const { url, init } = planned(ROUTES[name], input)
  const headers = {
    ...init.headers,
    ...(typeof org === 'number' && { 'x-svc-organization': String(org) }),
    ...(once !== undefined && { 'idempotency-key': once }),
    ...(approval && { 'x-svc-approval': approval }),
    ...(reason && { 'x-svc-reason': encodeURIComponent(reason) }),
  }
  const { response, body } = await exchange(url, { ...init, headers }, options, 'seen' in input)
  if (response.ok && isSuccess<Data<Table[K]>>(body)) {
    tellAnswered?.()
    // The first answer, which was lost, had the session or the link.
    if (isObject(body.data) && body.data['secret_already_shown']) throw new Unreachable()
    return body.data
  }
  if (response.status < 400 || response.status >= 500 || !isRefusal(body)) throw new Unreachable()
  tellAnswered?.()
  throw new Refused(response.status, body.message, body.data)
}

/**
 * Calls an operation. Throws `Refused`, or `Unreachable` if the service did not answer. If the device must sign for the session
 * first, the person is asked to, and the call is made again.
 */
export const call: typeof send = async (name, input, { org = current, ...options } = {}) => {
  const ask = howToConfirm()
  try {
    return await send(name, input, { org, ...options })
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'signature_required' && (await ask?.(org)))) throw error
    return send(name, input, { org, ...options })
  }
}

/** The data of an answer. */
export type Answered<K extends Name> = Data<Table[K]>

export type Session = Answered<'getSession'> &
  Pick<Listed['sessions'][number], 'waiting_members' | 'waiting_devices' | 'waiting_reviews' | 'away'>
/** The sessions of the browser, with their pending requests. */
export type Listed = Answered<'listSessions'>
/** A session that does not count, and why: the data of a refusal. */
export type Closed = Listed['closed'][number]
export type Enrollment = Answered<'beginEnrollment'>
/** What became of a request. */
export type Outcome = Answered<'getOwnRequest'>
export type Pending = Listed['sessions'][number]['requests'][number]
export type Member = Answered<'listMembers'>['members'][number]
export type Devices = Answered<'listOwnDevices'>
export type Decisions = Answered<'listOwnDecisions'>
export type DecisionDetail = Answered<'getDecision'>
