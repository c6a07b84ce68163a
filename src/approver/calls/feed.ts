import { call, Refused, type Pending, type Session } from './api.ts'
import { deadline } from '../shell/time.ts'

/** A request, when it expires by the clock of the page, and the session to which it was sent. */
export type PendingRequest = Pending & { expiresAt: number; session: Session }

type Listener = {
  changed: (requests: PendingRequest[]) => void
  /** Whether the service can be reached now. */
  reached: (reached: boolean) => void
  /** The session is over; the feed has stopped. */
  ended: () => void
}

const waitS = 25
const pausesMs = [300, 1000, 2000, 4000, 8000, 15_000]

/** Keeps the list of pending requests of a session up to date while the page is open. */
export const createFeed = (session: Session, { changed, reached, ended }: Listener) => {
  let mark: string | undefined
  let running = false
  let woken = false
  let wake: (() => void) | undefined

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const look = async (): Promise<void> => {
    const stop = new AbortController()
    wake = () => {
      woken = true
      stop.abort()
    }
    const wait = mark === undefined ? {} : { wait_s: waitS, seen: mark }
    const inbox = await call('listInbox', wait, { stop: stop.signal, org: session.org_id })
    mark = inbox.mark
    changed(
      inbox.requests.map((one) => Object.assign(one, { expiresAt: deadline(one.expires_in_ms), session })),
    )
  }

  const run = async (): Promise<void> => {
    for (let failures = 0; running;) {
      try {
        await look()
        failures = 0
        reached(true)
      } catch (error) {
        if (!running) return
        if (error instanceof Refused && error.status !== 429) {
          running = false
          ended()
          return
        }
        mark = undefined
        if (woken) {
          woken = false
          continue
        }
        // A single failure is not shown: a phone that wakes up drops its open connections.
        if (failures > 0) reached(false)
        await pause(pausesMs[Math.min(failures, pausesMs.length - 1)]!)
        failures += 1
      }
    }
  }

  return {
    start: (): void => {
      if (running) return
      running = true
      mark = undefined
      void run()
    },
    stop: (): void => {
      running = false
      wake?.()
    },
    /** Updates now: after the phone slept or the network was down, the list may be old. */
    refresh: (): void => {
      mark = undefined
      wake?.()
    },
  }
}
