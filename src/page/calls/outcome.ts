import { call, Refused, Unreachable, type Outcome, type Session } from './api.ts'

/** An id that is too long names no request either. */
const notFound = new Set([404, 422])

const pausesMs = [300, 1000, 2000, 4000, 8000]

type Look = {
  /** Whether nobody waits for the result any more. */
  over: () => boolean
  /** The service did not answer; the next attempt follows. */
  failed?: () => void
}

/**
 * Reads what became of a request until the service answers. Returns undefined once nobody waits, or if the request is not
 * this person's. If the session is over, the feed knows it too, and nobody waits then.
 */
export const readOutcome = async (
  request_id: string,
  { org_id: org }: Session,
  { over, failed }: Look,
): Promise<Outcome | undefined> => {
  for (let attempt = 0; !over(); attempt++) {
    try {
      return await call('getOwnRequest', { request_id }, { org })
    } catch (error) {
      if (error instanceof Refused && notFound.has(error.status)) return undefined
      if (error instanceof Unreachable) failed?.()
      const pause = pausesMs[Math.min(attempt, pausesMs.length - 1)]!
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
  return undefined
}
