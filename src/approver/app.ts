import { openAgents } from './agents.ts'
import { addressWorks, requestInAddress, takeToken } from './address.ts'
import { call, Refused, type Devices, type Members, type Session } from './api.ts'
import { openConsent } from './consent.ts'
import { button } from './element.ts'
import { enroll } from './enrollment.ts'
import { createFeed, type PendingRequest } from './feed.ts'
import { announce, nameOrganization, setOffline, showNotice, tellNext } from './frame.ts'
import { showInbox } from './inbox.ts'
import { countWaiting, noDevices, readDevices, showDevices } from './devices.ts'
import { isAdmin, nobody, showMembers, waitingMembers } from './members.ts'
import { makeOffers, offerNotifications } from './offers.ts'
import { clearNotifications, registerWorker } from './push.ts'
import { readOutcome } from './outcome.ts'
import { showRequest } from './request.ts'
import { showMissing, showOutcome } from './result.ts'
import { showSignIn } from './sign-in.ts'
import { confirmEmail } from './verify-email.ts'
import type { View } from './view.ts'

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

const endSession = (): void => {
  session = undefined
  change(() => showSignIn(() => void enter()))
}

const feed = createFeed({
  changed: (requests) => {
    const first = pending === undefined
    pending = requests
    void clearNotifications(new Set(requests.map(({ request_id }) => request_id)))
    if (first) showPlace()
    else view.update?.(requests)
    void lookForMembers()
    void lookForDevices()
  },
  reached: (reached) => setOffline(!reached, feed.refresh),
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
  showNotice({ drawing: 'phone', title: 'Devices', lines: ['One moment…'] })
  devices = await readDevices(devices)
  if (location.hash === '#devices') showDevices(here, devices)
}

const showLoading = (line: string): void =>
  void showNotice({
    drawing: 'clock',
    title: 'Loading the request',
    lines: [line],
    actions: [button('All requests', 'primary', toInbox)],
  })

/** A request that is not in the list: it has ended, or its notification arrived before the list. */
const showGone = (wanted: string, { device_id }: Session): View => {
  let left = false
  const look = async (): Promise<void> => {
    const outcome = await readOutcome(decodeURIComponent(wanted), {
      over: () => left,
      failed: () => showLoading('No connection. The request appears here once you’re back online.'),
    })
    if (left) return
    if (!outcome) showMissing(toInbox)
    else if (outcome.status === 'pending') feed.refresh()
    else showOutcome(outcome, { own: device_id, back: toInbox })
  }
  showLoading('One moment…')
  void look()
  return {
    update: (requests) => void (requests.some((one) => isWanted(one, wanted)) && showPlace()),
    leave: () => (left = true),
  }
}

const signOut = async (): Promise<void> => {
  try {
    await call('closeSession', {})
  } catch (error) {
    if (!(error instanceof Refused)) return announce('No connection. You’re still signed in.')
  }
  feed.stop()
  endSession()
}

const isWanted = ({ request_id }: PendingRequest, wanted: string): boolean =>
  encodeURIComponent(request_id) === wanted

/** The screen for the address: a request, the members, or the inbox. */
const showPlace = (): void => {
  const here = session
  const requests = pending
  if (!here || !requests) return
  const wanted = requestInAddress()
  change(() => {
    const request = wanted !== undefined && requests.find((one) => isWanted(one, wanted))
    if (request) return showRequest(request, here, toInbox)
    if (wanted !== undefined) return showGone(wanted, here)
    if (location.hash === '#members') return showMembers(here, waiting)
    if (location.hash === '#devices') return void openDevices(here)
    if (location.hash === '#agents') return void openAgents(() => location.hash === '#agents')
    const notify = async (): Promise<void> => {
      await offerNotifications(here)
      showPlace()
    }
    return showInbox(here, requests, {
      signOut,
      notify,
      newDevices: countWaiting(devices),
      ...(isAdmin(here) && { waiting: waiting.total }),
    })
  })
}

const enter = async (fresh = false): Promise<void> => {
  try {
    session = await call('getSession', {})
  } catch (error) {
    if (error instanceof Refused) return endSession()
    setOffline(true, () => void enter(fresh))
    showNotice({
      drawing: 'clock',
      title: 'No connection',
      lines: ['Your requests appear here once you’re back online.'],
    })
    setTimeout(() => !session && void enter(fresh), 2000)
    return
  }
  setOffline(false, feed.refresh)
  nameOrganization(session.organization)
  if (fresh) {
    tellNext('This phone is registered.')
    await makeOffers(session)
  }
  const request = asked
  asked = undefined
  if (request !== undefined) {
    const here = session
    return change(() => void openConsent(here, request, () => void enter()))
  }
  waiting = await waitingMembers(session, nobody)
  devices = await readDevices(noDevices)
  pending = undefined
  feed.start()
}

/** Starts the registration of an enrollment link, which can also be opened in a running page. */
const beginEnrollment = (): boolean => {
  const token = takeToken('enroll')
  if (token === undefined) return false
  feed.stop()
  session = undefined
  change(() => void enroll(token, { done: () => void enter(true), signIn: () => void enter() }))
  return true
}

/** Handles the link of a verification e-mail; the person may not be an approver. */
const beginEmailCheck = (): boolean => {
  const token = takeToken('verify-email')
  if (token === undefined) return false
  feed.stop()
  session = undefined
  change(() => confirmEmail(token))
  return true
}

/** Handles the address to which a client sends a person who connects an agent. */
const beginConsent = (): boolean => {
  const request = takeToken('authorize')
  if (request === undefined) return false
  feed.stop()
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

if (!beginEmailCheck() && addressWorks()) {
  void registerWorker((requestId) => (location.hash = `request=${encodeURIComponent(requestId)}`))
  if (!beginEnrollment() && !beginConsent()) void enter()
}
