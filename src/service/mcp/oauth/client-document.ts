import { isLoopbackHost } from '../../../core/loopback.ts'
import { parseJson } from '../../../core/parse-json.ts'
import { checkPublicUrl } from '../../delivery/public-address.ts'
import { readStart, requestPublic } from '../../delivery/public-request.ts'
import { OAuthProblem } from './answer.ts'

// Client id metadata documents: the id of a client is the https address of its metadata. Anybody can name an address, so
// the service fetches only from the public internet, little, rarely, and follows no redirect.

const longestId = 500
const longestDocument = 8_192
const timeoutMs = 5_000
const cachedAtMost = 200
const fetchedAtMost = 8
const shortestMs = 60_000
const longestMs = 24 * 60 * 60_000

/** After a failure, clients are asked to register instead for this long. */
const unreachableMs = 10 * 60_000

/** There was no answer at all: the service may have no way to the internet. */
class Unreachable extends OAuthProblem {
  constructor() {
    super('invalid_client', 'The metadata document of the client could not be fetched', 400)
  }
}

const unusable = (why: string): OAuthProblem =>
  new OAuthProblem('invalid_client', `The metadata document of the client ${why}`, 400)

/** Throws unless an id is the exact address of a document that may be fetched. */
const checkId = (id: string, dev: boolean): void => {
  const url = id.length <= longestId && URL.canParse(id) ? new URL(id) : undefined
  const isOwn = dev && url !== undefined && url.protocol === 'http:' && isLoopbackHost(url.hostname)
  if (!url || url.href !== id || (url.protocol !== 'https:' && !isOwn))
    throw new OAuthProblem('invalid_client', 'client_id is neither registered nor an https address', 400)
  if (url.pathname === '/' || url.hash || id.includes('#') || url.username || url.password)
    throw new OAuthProblem(
      'invalid_client',
      'client_id must have a path, and no fragment, user name or password',
      400,
    )
  try {
    checkPublicUrl('client_id', id, dev)
  } catch {
    throw unusable('is not on the public internet')
  }
}

type Fetched = { document: unknown; lifeMs: number }

/** How long the sender allows to keep it, within our limits. */
const lifeOf = (cacheControl: string | undefined): number => {
  if (cacheControl === undefined) return shortestMs
  const seconds = Number(/(?:^|[\s,])max-age=(\d{1,9})/.exec(cacheControl)?.[1] ?? 0)
  return Math.min(Math.max(seconds * 1000, shortestMs), longestMs)
}

const fetchDocument = async (url: string, dev: boolean): Promise<Fetched> => {
  const accepting = { accept: 'application/json' }
  const asked = { url, field: 'client_id', dev, method: 'GET', headers: accepting } as const
  const response = await requestPublic({ ...asked, signal: AbortSignal.timeout(timeoutMs) }).catch(() => {
    throw new Unreachable()
  })
  try {
    const { statusCode, headers } = response
    if (statusCode !== 200) throw unusable(`answered with status ${statusCode}`)
    if (!/^application\/(?:[\w.-]+\+)?json(?:;|$)/i.test(headers['content-type'] ?? ''))
      throw unusable('is not JSON')
    const { bytes, isWhole } = await readStart(response, longestDocument)
    if (bytes.length > longestDocument) throw unusable(`is larger than ${longestDocument} bytes`)
    if (!isWhole) throw unusable('could not be read')
    const document = parseJson(bytes.toString())
    if (document === undefined) throw unusable('is not JSON')
    return { document, lifeMs: lifeOf(headers['cache-control']) }
  } finally {
    response.destroy()
  }
}

export type ClientDocuments = {
  fetch(id: string): Promise<unknown>
  /**
   * Whether clients should identify themselves by a document. False after the first ones could not be fetched, so that clients
   * of a service without a way to the internet register. Once a document was reached, no bad address can change it.
   */
  areReachable(): boolean
}

/** Fetches metadata documents, at most a few at a time, and keeps them for as long as their sender allows. */
export const createClientDocuments = (dev: boolean, now: () => number = Date.now): ClientDocuments => {
  const kept = new Map<string, { document: unknown; until: number }>()
  let fetching = 0
  let reached = false
  let unreachableUntil = -Infinity
  /** Remembers whether anything answered. */
  const failed = (error: unknown): unknown => {
    if (!(error instanceof Unreachable)) reached = true
    else if (!reached) {
      unreachableUntil = now() + unreachableMs
      error.message += '. Connect the client again: it can now register instead'
    }
    return error
  }
  return {
    areReachable: () => reached || now() >= unreachableUntil,
    fetch: async (id) => {
      checkId(id, dev)
      const known = kept.get(id)
      if (known && known.until > now()) return known.document
      if (fetching >= fetchedAtMost)
        throw new OAuthProblem('temporarily_unavailable', 'Too many clients connect now. Try again', 503)
      fetching += 1
      try {
        const { document, lifeMs } = await fetchDocument(id, dev).catch((error: unknown) => {
          throw failed(error)
        })
        reached = true
        if ((document as { client_id?: unknown } | null)?.client_id !== id)
          throw unusable('names another client_id than its own address')
        kept.delete(id)
        if (kept.size >= cachedAtMost) kept.delete(kept.keys().next().value!)
        kept.set(id, { document, until: now() + lifeMs })
        return document
      } finally {
        fetching -= 1
      }
    },
  }
}
