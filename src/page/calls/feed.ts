import { call, type Closed, Refused, watchAnswers, type Listed, type Pending, type Session } from './api.ts'
import { createLead } from './lead.ts'
import { remember } from './sessions.ts'
import { deadline } from '../language/time.ts'

/** A request, when it expires by the clock of the page, and the session to which it was sent. */
export type PendingRequest = Pending & { expiresAt: number; session: Session }

/** The sessions of the browser and all their pending requests, the one that expires first at the top. */
export type Reading = {
  mark: string
  sessions: Session[]
  requests: PendingRequest[]
  closed: Closed[]
}

const byName = (one: Session, other: Session): number => one.organization.localeCompare(other.organization)

const known = new Map<string, Session>()

/** The same object for each reading of a session, so that whoever keeps it sees what is new. */
const sameSession = (session: Session): Session => {
  const key = `${session.org_id}/${session.device_id}`
  const same = Object.assign(known.get(key) ?? {}, session)
  known.set(key, same)
  return same
}

const toReading = ({ mark, sessions, closed }: Listed): Reading => {
  const read = sessions.map(({ requests, ...session }) => ({
    session: sameSession(session as Session),
    requests: requests.map((one) => Object.assign(one, { expiresAt: deadline(one.expires_in_ms) })),
  }))
  const all = read.map(({ session }) => session)
  remember(all)
  return {
    mark,
    closed,
    sessions: all.sort(byName),
    requests: read
      .flatMap(({ session, requests }) => requests.map((one) => Object.assign(one, { session })))
      .sort((one, other) => one.expires_at.localeCompare(other.expires_at)),
  }
}

const waitS = 25

/** Only the preload of index.html has this address, so that no later call gets its answer. */
const preloadedWait = { wait_s: 1 }

type Reader = {
  /** Answer once something has changed. */
  seen?: string | undefined
  stop?: AbortSignal
  /** Take the answer to the preload; only at the start of the page, because it becomes old. */
  preloaded?: boolean
}

/** Reads all sessions. */
export const readSessions = async ({ seen, stop, preloaded = false }: Reader = {}): Promise<Reading> => {
  const wait = seen ? { wait_s: waitS, seen } : preloaded ? preloadedWait : {}
  return toReading(await call('listSessions', wait, { org: null, preloaded, ...(stop && { stop }) }))
}

type Listener = {
  changed: (reading: Reading) => void
  /** Whether the service can be reached now. */
  reached: (reached: boolean) => void
  /** Every session is over; the feed has stopped. `closed`: those that the service has ended. */
  ended: (closed: Closed[]) => void
}

const pausesMs = [300, 1000, 2000, 4000, 8000, 15_000]
/** Between two looks of a tab that does not lead. */
const unheardMs = 35_000

/** Keeps sessions and requests up to date while the page is open. */
export const createFeed = ({ changed, reached, ended }: Listener) => {
  let mark: string | undefined
  /** Ends the feed that was started last. */
  let running: AbortController | undefined
  let wake: (() => void) | undefined
  let failures = 0

  const lead = createLead({
    turned: () => wake?.(),
    heard: (told) => {
      if (told === mark) return
      mark = undefined
      wake?.()
    },
  })

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  /** Until there may be something new. */
  const rest = async (): Promise<void> => {
    if (mark !== undefined && !lead.leads) await pause(unheardMs)
    // A tab that leads now asks the service for what has changed since.
    if (!lead.leads) mark = undefined
  }

  /** Returns undefined if it was woken: there may be something newer. */
  const look = async (): Promise<Reading | undefined> => {
    const stopped = new AbortController()
    wake = () => stopped.abort()
    try {
      return await readSessions({ seen: mark, stop: stopped.signal })
    } catch (error) {
      if (stopped.signal.aborted) return undefined
      throw error
    }
  }

  const run = async (over: AbortSignal): Promise<void> => {
    failures = 0
    for (;;) {
      try {
        await rest()
        const reading = over.aborted ? undefined : await look()
        if (over.aborted) return
        if (!reading) continue
        if (reading.sessions.length === 0) return ended(reading.closed)
        failures = 0
        mark = reading.mark
        if (lead.leads) lead.tell(mark)
        changed(reading)
        reached(true)
      } catch (error) {
        if (over.aborted) return
        if (error instanceof Refused && error.status === 401) return ended([])
        mark = undefined
        failures += 1
        // A single failure is not shown: a phone that wakes up drops its open connections.
        if (failures > 1) reached(false)
        await pause(pausesMs[Math.min(failures, pausesMs.length) - 1]!)
      }
    }
  }

  const stop = (): void => {
    running?.abort()
    running = undefined
    lead.stop()
    wake?.()
  }

  /** Updates now: after the phone slept or the network was down, the list may be old. */
  const refresh = (): void => {
    mark = undefined
    wake?.()
  }
  // Another call was answered while this one waits to try again: both say the same about the connection.
  watchAnswers(() => {
    if (!running || failures === 0) return
    failures = 0
    reached(true)
    refresh()
  })
  addEventListener('online', refresh)
  addEventListener('offline', () => {
    if (!running) return
    // A service on this computer can still be reached, so only a call that fails now proves it.
    failures ||= 1
    refresh()
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') refresh()
  })

  return {
    /** Follows what comes after this reading; without one, looks first. */
    start: (from?: Reading): void => {
      stop()
      mark = from?.mark
      running = new AbortController()
      lead.start()
      void run(running.signal)
    },
    stop,
    refresh,
  }
}
