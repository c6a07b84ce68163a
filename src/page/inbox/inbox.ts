import type { Session } from '../calls/api.ts'
import { button, div, h, link, picture, ul, way, type Child } from '../shell/element.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { signedOutOf } from '../calls/sessions.ts'
import { historyTitle } from '../history/title.ts'
import { announce, isOffline, nameOrganization, show, type View } from '../shell/frame.ts'
import { notificationOffer } from '../notifications/push.ts'
import { exactText } from '../shell/text.ts'
import { awayText, msUntil } from '../language/time.ts'
import { languageChoice } from '../shell/choice.ts'
import { t } from '../language/text.ts'
import type { Ways } from '../enrollment/entry.ts'
import { anotherOrganization, signedOutCards, suggestion } from '../enrollment/reentry.ts'
import { keep, readKept } from '../calls/kept.ts'
import { createCards } from './cards.ts'

type Actions = {
  /** One for each organization of this phone. */
  sessions: readonly Session[]
  /** Chooses the organization whose members and devices are shown. */
  select: (session: Session) => void
  signOut: () => Promise<void>
  notify: () => Promise<void>
  /** Shows the inbox anew. */
  again: () => void
  /** To organizations that the phone is not signed in to. */
  reentry: Ways
}

const kept = 'svc-second-device'

let isDismissed = readKept(kept) !== undefined

/** Suggests a backup to a person who has one device, until they dismiss it on this phone. */
const secondDevice = ({ only_device }: Session): HTMLElement | false =>
  only_device &&
  !isDismissed &&
  suggestion({
    line: t('devices.suggestSecond'),
    action: link('#add-device', 'quiet', t('devices.add')),
    dismissed: () => {
      isDismissed = true
      keep(kept, 'dismissed')
    },
  })

/** What is shown instead of cards. While there is no connection, nobody knows whether a request waits. */
const createEmpty = (session: Session) => {
  const title = h('h1', { tabindex: -1 })
  const advice = h('p')
  let sign = picture('clock')
  const element = div('notice', sign, title, advice)
  return {
    element,
    title,
    show: (): void => {
      const offline = isOffline()
      const closing = notificationOffer(session) === 'on' ? 'inbox.closePage' : 'inbox.keepOpen'
      const line = t(offline ? 'common.waitingOffline' : closing)
      if (line === advice.textContent) return
      advice.textContent = line
      title.textContent = t(offline ? 'common.noConnection' : 'inbox.caughtUp')
      const next = offline ? picture('clock') : picture('check', 'still')
      sign.replaceWith(next)
      sign = next
    },
  }
}

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
    if (!chosen) return
    select(chosen)
    // The inbox of the chosen organization; whoever has a keyboard may choose again, and sees where.
    document.getElementById('switcher')?.focus()
  })
  return div('field', h('label', { for: list.id }, t('inbox.organization')), div('row picker', list))
}

/** The part of the foot that what happens elsewhere can change. */
const changing = (session: Session, actions: Actions): HTMLElement => {
  const { sessions, notify, again } = actions
  const { waiting_members: waiting, waiting_devices: newDevices, waiting_reviews: reviews, away } = session
  const offer = notificationOffer(session)
  const offered = offer === 'possible' || offer === 'install first'
  const state = offer === 'on' || offer === 'blocked' ? offer : 'other'
  const waits: HTMLElement[] = []
  const others: HTMLElement[] = []
  const row = (place: string, isWaiting: boolean, ...content: Child[]): void => {
    ;(isWaiting ? waits : others).push(way(place, isWaiting, ...content))
  }
  if (reviews.length > 0)
    row(`decision=${reviews[0]}`, true, picture('alert'), t('inbox.reviews', { count: reviews.length }))
  if (waiting !== null) row('members', waiting > 0, picture('people'), t('inbox.members', { count: waiting }))
  row('devices', newDevices > 0, picture('phone'), t('inbox.devices', { count: newDevices }))
  row('history', false, picture('clock'), historyTitle(session, sessions))
  row('groups', false, picture('people'), t('groups.title'))
  row('mutes', false, picture('barred'), t('inbox.mutes'))
  row('agents', false, picture('agent'), t('inbox.agents'))
  row('away', away !== null, picture('calendar'), away ? awayText(away) : t('away.title'))
  // There is nothing else to set while they can still be turned on.
  if (!offered) row('notifications', false, picture('bell'), t('notifications.state', { state }))
  return div(
    'changing',
    sessions.length > 1 && switcher(session, actions),
    waits.length > 0 && ul('rows', ...waits),
    // One thing at a time.
    signedOutOf(sessions).length === 0 && newDevices === 0 && secondDevice(session),
    offered && button(t('notifications.turnOn'), 'plain', notify),
    ul('rows', ...others, h('li', {}, languageChoice(again))),
  )
}

const foot = (session: Session, { sessions, signOut, reentry }: Actions, below: HTMLElement): HTMLElement =>
  div(
    'foot',
    ...signedOutCards(sessions, reentry),
    below,
    h('p', 'aside', exactText(session.device_name)),
    anotherOrganization(sessions, reentry),
    button(
      sessions.length > 1 ? t('inbox.signOutOf', { organization: session.organization }) : t('inbox.signOut'),
      'quiet',
      signOut,
    ),
  )

/** The pending requests, the most urgent first. The list updates automatically, and keeps the focus where it is. */
export const showInbox = (session: Session, first: readonly PendingRequest[], actions: Actions): View => {
  let now = first
  let shown: string | undefined
  const cards = createCards(actions.sessions.length > 1, () => update(now))
  const title = h('h1', { tabindex: -1 })
  const list = h('section', {}, title, cards.element)
  const nothing = createEmpty(session)
  let head: HTMLElement | undefined
  let below: HTMLElement = h('div')
  const bottom = foot(session, actions, below)
  let drawn = ''

  const updateFoot = (): void => {
    const offer = notificationOffer(session)
    nothing.show()
    const names = actions.sessions.map(({ organization }) => organization)
    const { waiting_members, waiting_devices, waiting_reviews, only_device, away } = session
    const state = JSON.stringify([
      waiting_members,
      waiting_devices,
      waiting_reviews,
      only_device,
      away,
      offer,
      names,
    ])
    if (state === drawn) return
    drawn = state
    const focused = document.activeElement
    const at = [...below.querySelectorAll('a, button, select')].indexOf(focused!)
    const next = changing(session, actions)
    below.replaceWith(next)
    below = next
    if (at >= 0) below.querySelectorAll<HTMLElement>('a, button, select')[at]?.focus({ preventScroll: true })
  }

  const update = (requests: readonly PendingRequest[]): void => {
    now = requests
    const open = requests.filter(({ expiresAt }) => msUntil(expiresAt) > 0)
    const ids = open.map(({ request_id }) => request_id).join(' ')
    // The head must not name one organization above the request of another: there, each card names its own.
    nameOrganization(open.some((one) => one.session !== session) ? undefined : session)
    updateFoot()
    if (ids === shown) return cards.show(open)
    const count = t('inbox.requestsWaiting', { count: open.length })
    const focused = head?.contains(document.activeElement) ? document.activeElement : null
    title.textContent = count
    cards.show(open)
    const next = open.length > 0 ? list : nothing.element
    const page = open.length ? t('inbox.titleWaiting', { count: open.length }) : t('common.title')
    if (head === undefined) show(page, next, bottom)
    else if (head !== next) head.replaceWith(next)
    head = next
    document.title = page
    // The focus goes on from a card that has ended to the next one, and else to the heading, which then needs no announcement.
    const isLost = focused !== null && !focused.isConnected
    const card = focused?.tagName === 'H1' ? null : head.querySelector<HTMLElement>('.card')
    if (isLost) (card ?? head.querySelector('h1'))?.focus({ preventScroll: true })
    if (shown !== undefined && !(isLost && !card)) announce(open.length ? count : nothing.title.textContent)
    shown = ids
  }
  update(first)
  return { update, reached: () => nothing.show(), leave: cards.stop, announces: () => true }
}
