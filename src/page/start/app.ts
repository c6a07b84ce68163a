import './once.ts'
import { addressWorks, canSign, clearToken, hasToken, requestInAddress } from '../shell/address.ts'
import { actFor, call, Refused, watchSlowCalls, type Session } from '../calls/api.ts'
import { openConsent } from '../agents/consent.ts'
import type { Ways } from '../enrollment/entry.ts'
import { createEntrance, type Entry } from '../enrollment/entrance.ts'
import { withdraw } from '../calls/webauthn.ts'
import { confirmWith } from '../calls/confirmation.ts'
import { createFeed, readSessions, type PendingRequest } from '../calls/feed.ts'
import { createNewRequests } from '../inbox/new-requests.ts'
import { hasScreen, nameOrganization, setOffline, setSlow, tellNext } from '../shell/frame.ts'
import { confirmSession } from '../shell/confirm.ts'
import { showNotice, words } from '../shell/notice.ts'
import { createQueue } from '../request/queue.ts'
import { offerNotifications, welcome } from '../notifications/offers.ts'
import { keepNotifications, watchPermission } from '../notifications/push.ts'
import { mirrorPending, registerWorker } from '../notifications/register-worker.ts'
import { noticeableMs } from '../shell/reading.ts'
import { choose, chosenAmong, forget, forgetAll } from '../calls/sessions.ts'
import { screenAt } from './screens.ts'
import { loadLanguage } from '../shell/choice.ts'
import { t } from '../language/text.ts'

/** One for each organization of this phone, and the one whose members and devices are shown. */
let sessions: Session[] = []
let session: Session | undefined
let pending: PendingRequest[] | undefined
let view: ReturnType<typeof screenAt> = {}
const language = loadLanguage()
/** The request for access of a client, until the person is signed in. */
let asked: string | undefined

const change = (next: () => typeof view | void): void => {
  withdraw()
  view.leave?.()
  view = {}
  view = next() ?? {}
}

const queue = createQueue({ pending: () => pending ?? [], show: () => showPlace() })

const { follow, start } = createNewRequests()
const noteNew = (): void => follow(pending ?? [], view.announces?.() === true, sessions.length > 1)

const leave = (): void => {
  attempts += 1
  nameOrganization()
  feed.stop()
  session = undefined
  sessions = []
  pending = undefined
  noteNew()
  actFor(undefined)
}

const entrance = createEntrance({
  leave,
  change,
  enter: (entry) => void enter(entry),
  consent: (request) => consent(request),
})

/** Shows the members and devices of this organization from now on. */
const select = (chosen: Session): void => {
  session = chosen
  choose(chosen)
  nameOrganization(chosen)
  actFor(chosen.org_id)
}

/** Those that the person signs out of. */
const leaving = new Set<Session>()

/** Whoever signed out leaves nothing behind, nor, with the last session, about organizations whose sessions had expired. */
const settle = (ended: Session, left: readonly Session[]): void => {
  if (leaving.delete(ended)) (left.length > 0 ? forget : forgetAll)(ended)
}

/** The session of one organization is over; `left` go on. */
const endSession = (ended: Session, left: Session[], removed = false) => {
  sessions = left
  pending = pending?.filter((one) => one.session !== ended)
  settle(ended, left)
  tellNext(t(removed ? 'inbox.removedFrom' : 'inbox.signedOutOf', { organization: ended.organization }))
  if (!left[0]) return entrance.signIn()
  if (session === ended) {
    select(left[0])
    // The screen was about the organization that ended.
    if (requestInAddress() === undefined) clearToken()
  }
}

const updateView = (): void => void (pending && view.update?.(pending))

const feed = createFeed({
  changed: ({ sessions: now, requests }) => {
    const before = sessions
    const added = now.find((one) => !before.includes(one))
    for (const one of before) if (!now.includes(one)) endSession(one, now)
    sessions = now
    take(requests)
    if (added) void showAdded(added)
    else if (now.length === before.length) view.update?.(requests)
    else showPlace()
    noteNew()
  },
  reached: (reached) => setOffline(!reached, feed.refresh, view.reached),
  ended: (closed) => {
    for (const one of sessions) settle(one, [])
    entrance.turnAway({}, closed)
  },
})

const take = (requests: PendingRequest[]): void => {
  pending = requests
  mirrorPending(requests)
}

/** The phone is signed in to one more organization, whose notifications it gets from now on. */
const showAdded = async ({ organization }: Session): Promise<void> => {
  await keepNotifications(sessions, updateView)
  tellNext(t('inbox.signedInTo', { organization }))
  showPlace()
}

const reentry: Ways = { change, back: () => showPlace(), done: feed.refresh, isIn: true }

/** Ends one session of this page; the others go on. */
const drop = (here: Session, removed = false): void => {
  feed.stop()
  clearToken()
  forget(here)
  const left = sessions.filter((one) => one !== here)
  endSession(here, left, removed)
  if (!session) return
  showPlace()
  feed.start()
}

const signOut = async (here: Session): Promise<void> => {
  leaving.add(here)
  try {
    await call('closeSession', {}, { org: here.org_id })
  } catch (error) {
    if (!(error instanceof Refused)) {
      // The feed may know by now.
      if (sessions.includes(here)) {
        tellNext(t('inbox.maybeSignedIn'))
        showPlace()
      }
      return feed.refresh()
    }
  }
  drop(here)
}

/** The screen for the address: a request, the members, or the inbox. */
const showPlace = (): void => {
  const here = session
  const requests = pending
  if (!here || !requests) return
  const notify = async (): Promise<void> => {
    await offerNotifications(here, sessions)
    showPlace()
  }
  const switchTo = (chosen: Session): void => {
    select(chosen)
    showPlace()
  }
  const removed = (): void => drop(here, true)
  const ways = { sessions, again: showPlace, refresh: feed.refresh, queue, reentry, removed }
  change(() => screenAt(here, requests, { ...ways, notify, select: switchTo, signOut: () => signOut(here) }))
  noteNew()
}

/** Counts the attempts to start, so that only the latest one shows something. */
let attempts = 0

const enter = async (entry: Entry = {}, preloaded = false): Promise<void> => {
  const attempt = ++attempts
  const again = (): void => void enter(entry)
  // Not at once, because most answers arrive sooner.
  const loading = setTimeout(async () => {
    await language
    if (attempt === attempts && !hasScreen()) showNotice(words('common.loading', 'common.moment', 'clock'))
  }, noticeableMs)
  let reading: Awaited<ReturnType<typeof readSessions>>
  try {
    const [found] = await Promise.all([readSessions({ preloaded }), language])
    reading = found
  } catch (error) {
    await language
    if (attempt !== attempts) return
    if (error instanceof Refused && error.status !== 429) return entrance.turnAway(entry)
    setOffline(true, again)
    showNotice(words('common.noConnection', 'common.waitingOffline', 'clock'))
    setTimeout(() => attempt === attempts && again(), 2000)
    return
  } finally {
    clearTimeout(loading)
  }
  if (attempt !== attempts) return
  setOffline(false, feed.refresh)
  sessions = reading.sessions
  const here = sessions.find(({ org_id }) => org_id === entry.org) ?? chosenAmong(sessions)
  if (!here) return entrance.turnAway(entry, reading.closed)
  select(here)
  await keepNotifications(sessions, updateView)
  if (entry.fresh) await welcome(here, sessions)
  const request = asked
  asked = undefined
  if (request !== undefined)
    return change(() => openConsent(here, request, { toInbox: entrance.done, again: () => consent(request) }))
  take(reading.requests)
  start(reading.requests)
  showPlace()
  feed.start(reading)
}

/** Shows what a client asks for, once the person is signed in. */
const consent = (request: string): void => {
  asked = request
  change(() => void enter())
}

addEventListener('hashchange', () => {
  const wasAtLink = entrance.isOpen()
  if (entrance.open('verify-email', 'enroll', 'authorize')) return
  // Back, from a link that was opened in this page.
  if (wasAtLink) change(() => void enter())
  else if (session) showPlace()
})

watchPermission(() => ['', '#notifications'].includes(location.hash) && showPlace())
confirmWith(confirmSession)
watchSlowCalls((slow) => void language.then(() => setSlow(slow)))

/** Not with a top-level `await`, for which the build would need one more file. */
const begin = async (): Promise<void> => {
  // Otherwise, the session is read while the texts are loaded.
  if (hasToken() || !canSign) await language
  if (entrance.open('verify-email') || !addressWorks()) return
  if (!entrance.open('enroll', 'authorize')) await enter({}, true)
  // Not before the first screen, because its download would delay it.
  registerWorker((requestId) => (location.hash = `request=${encodeURIComponent(requestId)}`))
}

void begin()
