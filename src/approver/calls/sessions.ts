import { call, Refused, type Session } from './api.ts'
import { createFeed, type PendingRequest } from './feed.ts'

/** Undefined if the session has ended meanwhile. */
const readSession = (org: number): Promise<Session | undefined> =>
  call('getSession', {}, { org }).catch((error: unknown) => {
    if (error instanceof Refused) return undefined
    throw error
  })

/** The sessions of this browser, one for each organization. Fails if there is none. Calls must act for none. */
export const readSessions = async (): Promise<Session[]> => {
  const first = await call('getSession', {})
  const others = first.organizations.filter((org) => org !== first.org_id)
  const all = [first, ...(await Promise.all(others.map(readSession)))].filter((one) => one !== undefined)
  return all.sort((one, other) => one.organization.localeCompare(other.organization))
}

type Listener = {
  /** All lists are there, and one has changed. */
  changed: (requests: PendingRequest[]) => void
  reached: (reached: boolean) => void
  ended: (session: Session) => void
}

/** The pending requests of all sessions, the oldest first. */
export const createFeeds = (listener: Listener) => {
  let feeds: ReturnType<typeof createFeed>[] = []
  const lists = new Map<number, PendingRequest[] | undefined>()

  const publish = (): void => {
    const all = [...lists.values()]
    if (all.length === 0 || all.includes(undefined)) return
    const requests = all.flatMap((list) => list ?? [])
    listener.changed(requests.sort((a, b) => a.requested_at.localeCompare(b.requested_at)))
  }
  return {
    start: (sessions: readonly Session[]): void => {
      lists.clear()
      feeds = sessions.map((session) => {
        lists.set(session.org_id, undefined)
        const feed = createFeed(session, {
          changed: (requests) => {
            lists.set(session.org_id, requests)
            publish()
          },
          reached: listener.reached,
          ended: () => {
            lists.delete(session.org_id)
            listener.ended(session)
            publish()
          },
        })
        feed.start()
        return feed
      })
    },
    stop: (): void => {
      for (const feed of feeds) feed.stop()
      feeds = []
      lists.clear()
    },
    refresh: (): void => {
      for (const feed of feeds) feed.refresh()
    },
  }
}

const kept = 'svc-organization'

/** The organization that was chosen last; storage can be blocked. */
export const chosenAmong = (sessions: readonly Session[]): Session | undefined => {
  let id: string | null = null
  try {
    id = localStorage.getItem(kept)
  } catch {
    // The first one, then.
  }
  return sessions.find(({ org_id }) => String(org_id) === id) ?? sessions[0]
}

export const choose = ({ org_id }: Session): void => {
  try {
    localStorage.setItem(kept, String(org_id))
  } catch {
    // It is chosen until the page is closed.
  }
}
