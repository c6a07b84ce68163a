import { t } from '../language/text.ts'

/** No answer: the request may or may not have arrived. */
export class Unreachable extends Error {}

const timeoutMs = 15_000
/** Longer than the service waits for a change. */
const waitTimeoutMs = 40_000
/** A person who has waited this long wants to know why. */
const slowMs = 3_000

/** Calls that have taken longer than `slowMs`. */
let slow = 0
let tellSlow: ((isSlow: boolean) => void) | undefined

/** Tells whether an answer of the service is overdue. */
export const watchSlowCalls = (tell: (isSlow: boolean) => void): void => {
  tellSlow = tell
}

const countSlow = (more: 1 | -1): void => {
  slow += more
  tellSlow?.(slow > 0)
}

type Patience = {
  stop?: AbortSignal | undefined
  /** The service answers only when something changes. */
  waits: boolean
  preloaded?: boolean | undefined
  /** Instead of those who watch slow calls. */
  slow?: (() => void) | undefined
}

/** Sends a request and reads the JSON of its answer. Throws `Unreachable` if there is none in time. */
export const exchange = async (
  url: string,
  init: RequestInit,
  { stop, waits, slow: tellCaller, preloaded }: Patience,
) => {
  const own = new AbortController()
  const end = () => own.abort()
  const timer = setTimeout(end, waits ? waitTimeoutMs : timeoutMs)
  let counted = false
  const overdue = (): void => {
    if (tellCaller) return tellCaller()
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
    throw new Unreachable(t('common.unreachableTitle'))
  } finally {
    clearTimeout(timer)
    clearTimeout(slowTimer)
    if (counted) countSlow(-1)
    stop?.removeEventListener('abort', end)
  }
}
