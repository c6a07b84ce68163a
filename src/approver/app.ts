import { addressWorks, canSign, hasToken, requestInAddress, takeToken } from './shell/address.ts'
import { call, Refused, watchSlowCalls, type Session } from './calls/api.ts'
import { openConsent } from './agents/consent.ts'
import { enroll } from './enrollment/enrollment.ts'
import { createFeed, readSessions, type PendingRequest } from './calls/feed.ts'
import {
  announce,
  hasScreen,
  nameOrganization,
  setOffline,
  setSlow,
  showNotice,
  tellNext,
} from './shell/frame.ts'
import { showInbox } from './inbox/inbox.ts'
import { createSurroundings } from './inbox/surroundings.ts'
import { isWanted, showGone } from './request/gone.ts'
import { makeOffers, offerNotifications } from './notifications/offers.ts'
import { clearNotifications, keepNotifications, registerWorker } from './notifications/push.ts'
import { noticeableMs } from './shell/open-list.ts'
import { showRequest } from './request/request.ts'
import { choose, chosenAmong } from './calls/sessions.ts'
import { screenAt } from './screens.ts'
import { showSignIn } from './enrollment/sign-in.ts'
import { confirmEmail } from './enrollment/verify-email.ts'
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
  view.leave?.()
  view = {}
  view = next() ?? {}
}

const toInbox = (): void => {
  history.replaceState(null, '', location.pathname)
  showPlace()
}

const leave = (): void => {
  attempts += 1
  feed.stop()
  session = undefined
  sessions = []
  surroundings.follow(undefined)
}

const signIn = (): void => {
  leave()
  change(() => showSignIn(() => void enter()))
}

/** Shows the members and devices of this organization from now on. */
const select = (chosen: Session): void => {
  session = chosen
  choose(chosen)
  nameOrganization(chosen.organization)
  surroundings.follow(chosen)
}

/** The session of one organization is over; `left` go on. */
const endSession = (ended: Session, left: Session[]): void => {
  sessions = left
  pending = pending?.filter((one) => one.session !== ended)
  if (!left[0]) return signIn()
  if (session === ended) select(left[0])
  tellNext(t('inbox.signedOutOf', { organization: ended.organization }))
}

const surroundings = createSurroundings(() => location.hash === '' && showPlace())

const feed = createFeed({
  changed: ({ sessions: now, requests }) => {
    const isSame = now.length === sessions.length && now.every((one) => sessions.includes(one))
    for (const one of sessions) if (!now.includes(one)) endSession(one, now)
    sessions = now
    take(requests)
    if (isSame) view.update?.(requests)
    else showPlace()
  },
  reached: (reached) => setOffline(!reached, feed.refresh),
  ended: () => signIn(),
})

const take = (requests: PendingRequest[]): void => {
  pending = requests
  void clearNotifications(new Set(requests.map(({ request_id }) => request_id)))
  void surroundings.look()
}

/** Ends one session of this page; the others go on. */
const drop = (here: Session): void => {
  feed.stop()
  history.replaceState(null, '', location.pathname)
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
    if (!(error instanceof Refused)) return announce(t('inbox.stillSignedIn'))
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
    nameOrganization((request || undefined)?.session.organization ?? here.organization)
    if (request) return showRequest(request, request.session, toInbox)
    if (wanted !== undefined)
      return showGone(wanted, { sessions, refresh: feed.refresh, arrived: showPlace, back: toInbox })
    const screen = screenAt(here, { removed: () => drop(here), back: toInbox })
    if (screen) return screen
    const notify = async (): Promise<void> => {
      await offerNotifications(here, sessions)
      showPlace()
    }
    return showInbox(here, requests, {
      sessions,
      select: (chosen) => {
        select(chosen)
        showPlace()
        void surroundings.look()
      },
      signOut: () => signOut(here),
      notify,
      ...surroundings.counts(),
    })
  })
}

/** Counts the attempts to start, so that only the latest one shows something. */
let attempts = 0

const enter = async (fresh = false, entered?: number): Promise<void> => {
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
    const [found] = await Promise.all([readSessions(), language])
    reading = found
  } catch (error) {
    await language
    if (attempt !== attempts) return
    if (error instanceof Refused && error.status !== 429) return signIn()
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
  if (!here) return signIn()
  select(here)
  await keepNotifications(sessions, () => location.hash === '' && showPlace())
  if (fresh) {
    tellNext(t('enrollment.registered'))
    await makeOffers(here, sessions)
  }
  const request = asked
  asked = undefined
  if (request !== undefined) {
    return change(() => void openConsent(here, request, () => void enter()))
  }
  take(reading.requests)
  showPlace()
  feed.start(reading)
}

/** Starts the registration of an enrollment link, which can also be opened in a running page. */
const beginEnrollment = (): boolean => {
  const token = takeToken('enroll')
  if (token === undefined) return false
  leave()
  change(() => void enroll(token, { done: (org) => void enter(true, org), signIn: () => void enter() }))
  return true
}

/** Handles the link of a verification e-mail; the person may not be an approver. */
const beginEmailCheck = (): boolean => {
  const token = takeToken('verify-email')
  if (token === undefined) return false
  leave()
  change(() => confirmEmail(token))
  return true
}

/** Handles the address to which a client sends a person who connects an agent. */
const beginConsent = (): boolean => {
  const request = takeToken('authorize')
  if (request === undefined) return false
  leave()
  asked = request
  change(() => void enter())
  return true
}

addEventListener('hashchange', () => {
  if (beginEmailCheck() || beginEnrollment() || beginConsent() || !session) return
  showPlace()
})
addEventListener('online', feed.refresh)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') feed.refresh()
})

watchSlowCalls((slow) => void language.then(() => setSlow(slow)))

// The session is read while the texts are loaded.
if (hasToken() || !canSign) await language
if (!beginEmailCheck() && addressWorks()) {
  const started = !beginEnrollment() && !beginConsent() && enter()
  // Not before the first screen, because its download would delay it.
  void Promise.resolve(started).then(() =>
    registerWorker((requestId) => (location.hash = `request=${encodeURIComponent(requestId)}`)),
  )
}
