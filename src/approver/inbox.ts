import type { Session } from './api.ts'
import { button, h, picture } from './element.ts'
import type { PendingRequest } from './feed.ts'
import { announce, show } from './frame.ts'
import { notificationOffer } from './push.ts'
import { exactText, clockText, headline, requesterText } from './text.ts'
import { countDown, msUntil } from './time.ts'
import type { View } from './view.ts'

type Actions = {
  signOut: () => Promise<void>
  notify: () => Promise<void>
  /** Number of members to accept; 0 unless the person is an administrator. */
  waiting?: number
  /** Number of new devices that this person can approve or refuse. */
  newDevices: number
}

const card = (one: PendingRequest, stops: (() => void)[], expired: () => void): HTMLElement => {
  const left = h('span', { class: 'left' })
  const tick = (ms: number): void => {
    left.textContent = `${clockText(ms)} left`
    // Not while the list is being rendered.
    if (ms === 0) queueMicrotask(expired)
  }
  stops.push(countDown(one.expiresAt, tick, () => undefined))
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'card', href: `#request=${encodeURIComponent(one.request_id)}` },
      h('span', { class: 'asked' }, exactText(headline(one))),
      h('span', { class: 'who' }, requesterText(one)),
      left,
    ),
  )
}

const empty = (subscribed: boolean): HTMLElement =>
  h(
    'div',
    { class: 'notice' },
    picture('check', 'still'),
    h('h1', {}, 'You’re all caught up'),
    h(
      'p',
      {},
      subscribed
        ? 'You can close this page. You’ll get a notification for each request.'
        : 'Keep this page open. New requests appear here.',
    ),
  )

const membersText = (waiting: number): string => {
  if (waiting === 0) return 'Members'
  return waiting === 1 ? '1 person is waiting to join' : `${waiting} people are waiting to join`
}

const devicesText = (count: number): string => {
  if (count === 0) return 'Devices'
  return count === 1 ? '1 new device needs approval' : `${count} new devices need approval`
}

const foot = (session: Session, { signOut, notify, waiting, newDevices }: Actions): HTMLElement =>
  h(
    'div',
    { class: 'foot' },
    waiting !== undefined &&
      h('a', { class: 'row', href: '#members' }, picture('people'), membersText(waiting)),
    h('a', { class: 'row', href: '#devices' }, picture('phone'), devicesText(newDevices)),
    h('a', { class: 'row', href: '#agents' }, picture('place'), 'Agents'),
    notificationOffer(session) !== 'impossible' && button('Turn on notifications', 'plain', notify),
    h('p', { class: 'aside' }, exactText(session.device_name)),
    button('Sign out', 'quiet', signOut),
  )

/** The pending requests, oldest first. The list updates automatically. */
export const showInbox = (session: Session, first: readonly PendingRequest[], actions: Actions): View => {
  let stops: (() => void)[] = []
  let shown: string | undefined
  const leave = (): void => {
    for (const stop of stops) stop()
    stops = []
  }
  const update = (requests: readonly PendingRequest[]): void => {
    const open = requests.filter(({ expiresAt }) => msUntil(expiresAt) > 0)
    const ids = open.map(({ request_id }) => request_id).join(' ')
    if (ids === shown) return
    leave()
    const count = open.length === 1 ? '1 request is waiting' : `${open.length} requests are waiting`
    const title = open.length ? `(${open.length}) Approvals` : 'Approvals'
    show(
      title,
      open.length ? h('h1', {}, count) : empty(session.subscribed),
      open.length > 0 &&
        h('ul', { class: 'cards' }, ...open.map((one) => card(one, stops, () => update(requests)))),
      foot(session, actions),
    )
    if (shown !== undefined) announce(open.length ? count : 'You’re all caught up')
    shown = ids
  }
  update(first)
  return { update, leave }
}
