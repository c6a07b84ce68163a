import { addressWorks, canSign, hasToken, requestInAddress } from './shell/address.ts'
import { call, Refused, type Session } from './calls/api.ts'
import { watchSlowCalls } from './calls/exchange.ts'
import { openConsent } from './agents/consent.ts'
import { createArrival } from './enrollment/arrival.ts'
import { createLinks } from './enrollment/links.ts'
import { showWelcome } from './enrollment/welcome.ts'
import { withdraw } from './calls/webauthn.ts'
import { createFeed, readSessions, type PendingRequest } from './calls/feed.ts'
import { createNewRequests } from './shell/new-requests.ts'
import { hasScreen, nameOrganization, setOffline, setSlow, showNotice, tellNext } from './shell/frame.ts'
import { showInbox } from './inbox/inbox.ts'
import { createSurroundings } from './inbox/surroundings.ts'
import { createQueue } from './request/queue.ts'
import { isWanted, showGone } from './request/gone.ts'
import { makeOffers, offerNotifications } from './notifications/offers.ts'
import { mirrorPending } from './notifications/mirror.ts'
import { keepNotifications, watchPermission } from './notifications/push.ts'
import { registerWorker } from './notifications/register-worker.ts'
import { noticeableMs } from './shell/reading.ts'
import { showRequest } from './request/request.ts'
import { choose, chosenAmong, forget } from './calls/sessions.ts'
import { screenAt } from './screens.ts'
import type { View } from './shell/view.ts'
import { loadLanguage } from './language/choice.ts'
import { t } from './language/text.ts'

/** One for each organization of this phone, and the one whose members and devices are shown. */
let sessions: Session[] = []
let session: Session | undefined
let pending: PendingRequest[] | undefined
let view: View = {}
const language = loadLanguage()
/** The request for access of a client, until the person is signed in. */
let asked: string | undefined

const change = (next: () => View | void): void => {
  withdraw()
  view.leave?.()
  view = {}
  view = next() ?? {}
}

const queue = createQueue({ pending: () => pending ?? [], show: () => showPlace() })

const newRequests = createNewRequests()
const noteNew = (): void => newRequests.follow(pending ?? [], view.announces?.() === true, requestInAddress())

const leave = (): void => {
  attempts += 1
  feed.stop()
  session = undefined
  sessions = []
  pending = undefined
  surroundings.follow(undefined)
}

const arrival = createArrival({ leave, change, enter: (fresh) => void enter(fresh) })

/** Shows the members and devices of this organization from now on. */
const select = (chosen: Session): void => {
  session = chosen
  choose(chosen)
  nameOrganization(chosen)
  surroundings.follow(chosen)
}

/** The session of one organization is over; `left` go on. */
const endSession = (ended: Session, left: Session[]): void => {
  sessions = left
  pending = pending?.filter((one) => one.session !== ended)
  if (!left[0]) return arrival.signIn()
  if (session === ended) select(left[0])
  tellNext(t('inbox.signedOutOf', { organization: ended.organization }))
}

const surroundings = createSurroundings(() => pending && view.update?.(pending))

const feed = createFeed({
  changed: ({ sessions: now, requests }) => {
    const isSame = now.length === sessions.length && now.every((one) => sessions.includes(one))
    for (const one of sessions) if (!now.includes(one)) endSession(one, now)
    sessions = now
    take(requests)
    if (isSame) view.update?.(requests)
    else showPlace()
    noteNew()
  },
  reached: (reached) => setOffline(!reached, feed.refresh),
  ended: () => arrival.signIn(),
})

const take = (requests: PendingRequest[]): void => {
  pending = requests
  mirrorPending(requests)
  void surroundings.look()
}

/** Ends one session of this page; the others go on. */
const drop = (here: Session): void => {
  feed.stop()
  history.replaceState(null, '', location.pathname)
  forget(here)
  const left = sessions.filter((one) => one !== here)
  endSession(here, left)
  if (!session) return
  showPlace()
  feed.start()
}

const signOut = async (here: Session): Promise<void> => {
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
  const wanted = requestInAddress()
  change(() => {
    const request = wanted !== undefined && requests.find((one) => isWanted(one, wanted))
    nameOrganization(request ? request.session : here)
    if (request) return showRequest(request, requests, queue)
    if (wanted !== undefined)
      return showGone(wanted, { sessions, refresh: feed.refresh, arrived: showPlace, queue })
    const notify = async (): Promise<void> => {
      await offerNotifications(here, sessions)
      showPlace()
    }
    const ways = { sessions, again: showPlace, refresh: feed.refresh, notify }
    const screen = screenAt(here, { ...ways, removed: () => drop(here) })
    if (screen) return screen
    return showInbox(here, requests, {
      ...ways,
      select: (chosen) => {
        select(chosen)
        showPlace()
        void surroundings.look()
      },
      signOut: () => signOut(here),
      counts: surroundings.counts,
    })
  })
  noteNew()
}

/** Counts the attempts to start, so that only the latest one shows something. */
let attempts = 0

const enter = async (fresh = false, entered?: number, preloaded = false): Promise<void> => {
  const attempt = ++attempts
  const again = (): void => void enter(fresh, entered)
  // Not at once, because most answers arrive sooner.
  const loading = setTimeout(async () => {
    await language
    if (attempt === attempts && !hasScreen())
      showNotice({ drawing: 'clock', title: t('common.loading'), lines: [t('common.moment')] })
  }, noticeableMs)
  let reading: Awaited<ReturnType<typeof readSessions>>
  try {
    const [found] = await Promise.all([readSessions({ preloaded }), language])
    reading = found
  } catch (error) {
    await language
    if (attempt !== attempts) return
    if (error instanceof Refused && error.status !== 429) return arrival.turnAway(fresh)
    setOffline(true, again)
    showNotice({ drawing: 'clock', title: t('common.noConnection'), lines: [t('common.waitingOffline')] })
    setTimeout(() => attempt === attempts && again(), 2000)
    return
  } finally {
    clearTimeout(loading)
  }
  if (attempt !== attempts) return
  setOffline(false, feed.refresh)
  sessions = reading.sessions
  const here = sessions.find(({ org_id }) => org_id === entered) ?? chosenAmong(sessions)
  if (!here) return arrival.turnAway(fresh)
  arrival.setOpened(false)
  select(here)
  await keepNotifications(sessions, () => location.hash === '' && showPlace())
  if (fresh) {
    await showWelcome(here)
    await makeOffers(here, sessions)
  }
  const request = asked
  asked = undefined
  if (request !== undefined)
    return change(() => openConsent(here, request, { toInbox: links.done, again: () => consent(request) }))
  take(reading.requests)
  newRequests.start(reading.requests)
  showPlace()
  feed.start(reading)
}

/** Shows what a client asks for, once the person is signed in. */
const consent = (request: string): void => {
  asked = request
  change(() => void enter())
}

const links = createLinks({
  leave,
  change,
  enter: () => void enter(),
  registered: (org, hasSession) => {
    arrival.setOpened(hasSession)
    void enter(true, org)
  },
  consent,
})

addEventListener('hashchange', () => {
  const wasAtLink = links.isOpen()
  if (links.open('verify-email', 'enroll', 'authorize')) return
  // Back, from a link that was opened in this page.
  if (wasAtLink) change(() => void enter())
  else if (session) showPlace()
})

watchPermission(() => ['', '#notifications'].includes(location.hash) && showPlace())
watchSlowCalls((slow) => void language.then(() => setSlow(slow)))

// The session is read while the texts are loaded.
if (hasToken() || !canSign) await language
if (!links.open('verify-email') && addressWorks()) {
  const started = !links.open('enroll', 'authorize') && enter(false, undefined, true)
  // Not before the first screen, because its download would delay it.
  void Promise.resolve(started).then(() =>
    registerWorker((requestId) => (location.hash = `request=${encodeURIComponent(requestId)}`)),
  )
}
