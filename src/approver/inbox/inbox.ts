import type { Session } from '../calls/api.ts'
import { button, h, picture } from '../shell/element.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { announce, show } from '../shell/frame.ts'
import { notificationOffer } from '../notifications/push.ts'
import { exactText, clockText, headline, requesterText } from '../shell/text.ts'
import { countDown, msUntil } from '../shell/time.ts'
import type { View } from '../shell/view.ts'
import { currentLanguage } from '../language/choice.ts'
import { languages } from '../language/languages.ts'
import { t } from '../language/text.ts'

type Actions = {
  /** One for each organization of this phone. */
  sessions: readonly Session[]
  /** Chooses the organization whose members and devices are shown. */
  select: (session: Session) => void
  signOut: () => Promise<void>
  notify: () => Promise<void>
  /** Number of members to accept; 0 unless the person is an administrator. */
  waiting?: number
  /** Number of new devices that this person can approve or refuse. */
  newDevices: number
}

const card = (
  one: PendingRequest,
  { stops, expired, named }: { stops: (() => void)[]; expired: () => void; named: boolean },
): HTMLElement => {
  const left = h('span', { class: 'left' })
  const tick = (ms: number): void => {
    left.textContent = t('common.timeLeft', { time: clockText(ms) })
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
      named && h('span', { class: 'who' }, exactText(one.session.organization)),
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
    h('h1', {}, t('inbox.caughtUp')),
    h('p', {}, t(subscribed ? 'inbox.closePage' : 'inbox.keepOpen')),
  )

/** Chooses the organization that the rows below are about. */
const switcher = (session: Session, { sessions, select }: Actions): HTMLElement => {
  const list = h(
    'select',
    { id: 'switcher' },
    ...sessions.map((one) =>
      h('option', { dir: 'auto', value: one.org_id, selected: one === session }, one.organization),
    ),
  )
  list.addEventListener('change', () => {
    const chosen = sessions.find(({ org_id }) => String(org_id) === list.value)
    if (chosen) select(chosen)
  })
  return h('div', { class: 'field' }, h('label', { for: 'switcher' }, t('inbox.organization')), list)
}

const foot = (session: Session, actions: Actions): HTMLElement => {
  const { sessions, signOut, notify, waiting, newDevices } = actions
  const several = sessions.length > 1
  const offer = notificationOffer(session)
  return h(
    'div',
    { class: 'foot' },
    several && switcher(session, actions),
    waiting !== undefined &&
      h('a', { class: 'row', href: '#members' }, picture('people'), t('inbox.members', { count: waiting })),
    h('a', { class: 'row', href: '#devices' }, picture('phone'), t('inbox.devices', { count: newDevices })),
    h('a', { class: 'row', href: '#history' }, picture('clock'), t('inbox.history')),
    h('a', { class: 'row', href: '#agents' }, picture('place'), t('inbox.agents')),
    h('a', { class: 'row', href: '#language' }, picture('globe'), languages[currentLanguage()]),
    ['possible', 'install first'].includes(offer) && button(t('notifications.turnOn'), 'plain', notify),
    h(
      'a',
      { class: 'row', href: '#notifications' },
      picture('bell'),
      t('notifications.state', { state: offer === 'on' || offer === 'blocked' ? offer : 'other' }),
    ),
    h('p', { class: 'aside' }, exactText(session.device_name)),
    button(
      several ? t('inbox.signOutOf', { organization: session.organization }) : t('inbox.signOut'),
      'quiet',
      signOut,
    ),
  )
}

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
    const count = t('inbox.requestsWaiting', { count: open.length })
    const title = open.length ? t('inbox.titleWaiting', { count: open.length }) : t('common.title')
    show(
      title,
      open.length ? h('h1', {}, count) : empty(notificationOffer(session) === 'on'),
      open.length > 0 &&
        h(
          'ul',
          { class: 'cards' },
          ...open.map((one) =>
            card(one, { stops, expired: () => update(requests), named: actions.sessions.length > 1 }),
          ),
        ),
      foot(session, actions),
    )
    if (shown !== undefined) announce(open.length ? count : t('inbox.caughtUp'))
    shown = ids
  }
  update(first)
  return { update, leave }
}
