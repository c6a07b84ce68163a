import { openAgents } from './agents/agents.ts'
import { addressWorks, requestInAddress, takeToken } from './shell/address.ts'
import { actFor, call, Refused, type Devices, type Members, type Session } from './calls/api.ts'
import { openConsent } from './agents/consent.ts'
import { enroll } from './enrollment/enrollment.ts'
import type { PendingRequest } from './calls/feed.ts'
import { announce, nameOrganization, setOffline, showNotice, tellNext } from './shell/frame.ts'
import { showInbox } from './inbox/inbox.ts'
import { countWaiting, noDevices, readDevices, showDevices } from './devices/devices.ts'
import { isWanted, showGone } from './request/gone.ts'
import { isAdmin, nobody, showMembers, waitingMembers } from './members/members.ts'
import { makeOffers, offerNotifications } from './notifications/offers.ts'
import { clearNotifications, keepNotifications, registerWorker } from './notifications/push.ts'
import { showRequest } from './request/request.ts'
import { choose, chosenAmong, createFeeds, readSessions } from './calls/sessions.ts'
import { showSignIn } from './enrollment/sign-in.ts'
import { confirmEmail } from './enrollment/verify-email.ts'
import type { View } from './shell/view.ts'
import { speak, t } from './language/text.ts'

/** One for each organization of this phone, and the one whose members and devices are shown. */
let sessions: Session[] = []
let session: Session | undefined
let waiting: Members = nobody
let devices: Devices = noDevices
let pending: PendingRequest[] | undefined
let view: View = {}
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
  feeds.stop()
  session = undefined
  sessions = []
  actFor(undefined)
}

const signIn = (): void => {
  leave()
  change(() => showSignIn(() => void enter()))
}

/** The session of one organization is over; the others go on. */
const endSession = (ended: Session): void => {
  sessions = sessions.filter((one) => one !== ended)
  if (sessions.length === 0) return signIn()
  if (session === ended) select(sessions[0]!)
  tellNext(t('inbox.signedOutOf', { organization: ended.organization }))
}

/** Shows the members and devices of this organization from now on. */
const select = (chosen: Session): void => {
  session = chosen
  actFor(chosen.org_id)
  choose(chosen)
  nameOrganization(chosen.organization)
  waiting = nobody
  devices = noDevices
  void lookForMembers()
  void lookForDevices()
}

const feeds = createFeeds({
  changed: (requests) => {
    const first = pending === undefined
    pending = requests
    void clearNotifications(new Set(requests.map(({ request_id }) => request_id)))
    if (first) showPlace()
    else view.update?.(requests)
    void lookForMembers()
    void lookForDevices()
  },
  reached: (reached) => setOffline(!reached, feeds.refresh),
  ended: endSession,
})

/** Runs with each update of the requests; the inbox shows the number of waiting members. */
const lookForMembers = async (): Promise<void> => {
  if (!session || location.hash === '#members') return
  const before = waiting.total
  waiting = await waitingMembers(session, waiting)
  if (waiting.total !== before && location.hash === '') showPlace()
}

/** Runs as often: new devices that this device or an administrator can approve. */
const lookForDevices = async (): Promise<void> => {
  if (!session || location.hash === '#devices') return
  const before = countWaiting(devices)
  devices = await readDevices(devices)
  if (countWaiting(devices) !== before && location.hash === '') showPlace()
}

/** Read again, because the person decides about what is shown. */
const openDevices = async (here: Session): Promise<void> => {
  showNotice({ drawing: 'phone', title: t('devices.title'), lines: [t('common.moment')] })
  devices = await readDevices(devices)
  if (location.hash === '#devices') showDevices(here, devices)
}

const signOut = async (here: Session): Promise<void> => {
  try {
    await call('closeSession', {}, { org: here.org_id })
  } catch (error) {
    if (!(error instanceof Refused)) return announce(t('inbox.stillSignedIn'))
  }
  feeds.stop()
  pending = undefined
  endSession(here)
  if (session) feeds.start(sessions)
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
      return showGone(wanted, { sessions, refresh: feeds.refresh, arrived: showPlace, back: toInbox })
    if (location.hash === '#members') return showMembers(here, waiting)
    if (location.hash === '#devices') return void openDevices(here)
    if (location.hash === '#agents') return void openAgents(() => location.hash === '#agents')
    const notify = async (): Promise<void> => {
      await offerNotifications(here, sessions)
      showPlace()
    }
    return showInbox(here, requests, {
      sessions,
      select: (chosen) => {
        select(chosen)
        showPlace()
      },
      signOut: () => signOut(here),
      notify,
      newDevices: countWaiting(devices),
      ...(isAdmin(here) && { waiting: waiting.total }),
    })
  })
}

const enter = async (fresh = false, entered?: number): Promise<void> => {
  try {
    actFor(undefined)
    sessions = await readSessions()
  } catch (error) {
    if (error instanceof Refused) return signIn()
    setOffline(true, () => void enter(fresh, entered))
    showNotice({
      drawing: 'clock',
      title: t('common.noConnection'),
      lines: [t('common.waitingOffline')],
    })
    setTimeout(() => !session && void enter(fresh, entered), 2000)
    return
  }
  setOffline(false, feeds.refresh)
  const here = sessions.find(({ org_id }) => org_id === entered) ?? chosenAmong(sessions)
  if (!here) return signIn()
  session = here
  actFor(here.org_id)
  choose(here)
  nameOrganization(here.organization)
  await keepNotifications(sessions)
  if (fresh) {
    tellNext(t('enrollment.registered'))
    await makeOffers(here, sessions)
  }
  const request = asked
  asked = undefined
  if (request !== undefined) {
    return change(() => void openConsent(here, request, () => void enter()))
  }
  waiting = await waitingMembers(here, nobody)
  devices = await readDevices(noDevices)
  pending = undefined
  feeds.start(sessions)
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
addEventListener('online', feeds.refresh)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') feeds.refresh()
})

speak({}, { language: navigator.languages.find((one) => /^en\b/.test(one)) ?? 'en', isRightToLeft: false })

if (!beginEmailCheck() && addressWorks()) {
  void registerWorker((requestId) => (location.hash = `request=${encodeURIComponent(requestId)}`))
  if (!beginEnrollment() && !beginConsent()) void enter()
}
