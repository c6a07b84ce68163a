import { call, type Session } from '../calls/api.ts'
import { locale, t } from '../language/text.ts'
import { button, div, h, labelled, picture, put } from '../shell/element.ts'
import { problemLine, sentenceFor, show, type View } from '../shell/frame.ts'
import { notificationOffer, turnOffNotifications, turnOnNotifications } from './push.ts'
import { keepQuietHours, readQuietHours } from './quiet-hours.ts'
import type { QuietHours } from './quiet-time.ts'

type Actions = { sessions: readonly Session[]; notify: () => Promise<void>; again: () => void }

const stateOf = (session: Session, sessions: readonly Session[]): string => {
  const offer = notificationOffer(session)
  if (offer === 'on') {
    const names = sessions
      .filter((one) => notificationOffer(one) === 'on')
      .map(({ organization }) => organization)
    return names.length > 1
      ? t('notifications.onFor', { organizations: new Intl.ListFormat(locale()).format(names) })
      : t('notifications.on')
  }
  if (offer === 'blocked') return t('notifications.blocked')
  if (offer === 'impossible')
    return session.push_key === null ? t('notifications.noService') : t('notifications.noBrowser')
  return t('notifications.offNow')
}

const usual: QuietHours = { from: '22:00', until: '07:00' }

/** The worker of this browser follows them, so the service need not know when a person sleeps. */
const quietForm = (kept: QuietHours | undefined): HTMLElement[] => {
  const outcome = h('p', { class: 'aside reserved', role: 'status' })
  const say = (text: string): void => void (outcome.textContent = text)
  const use = h('input', { type: 'checkbox', id: 'quiet', checked: kept !== undefined })
  const times = (['from', 'until'] as const).map((name) =>
    h('input', { type: 'time', id: `quiet-${name}`, value: (kept ?? usual)[name], required: true }),
  )
  const [from, until] = times as [HTMLInputElement, HTMLInputElement]
  const rows = div(
    'pair',
    labelled(t('notifications.quietFrom'), from),
    labelled(t('notifications.quietUntil'), until),
  )
  rows.hidden = kept === undefined
  const save = async (): Promise<void> => {
    rows.hidden = !use.checked
    const hours = { from: from.value, until: until.value }
    if (use.checked && !(hours.from && hours.until)) return
    if (use.checked && hours.from === hours.until) return say(t('notifications.quietSame'))
    const isKept = await keepQuietHours(use.checked ? hours : undefined)
    say(isKept ? t('notifications.quietKept') : t('notifications.quietFailed'))
  }
  for (const input of [use, ...times]) input.addEventListener('change', () => void save())
  return [
    h('h2', {}, t('notifications.quiet')),
    h('p', 'aside', t('notifications.quietWhy')),
    h('label', 'result', use, t('notifications.quietOn')),
    rows,
    outcome,
  ]
}

/** A test notification that has not arrived by then probably never will. */
const patienceMs = 20_000

/** Whether notifications reach this device, and how. */
export const showNotifications = (session: Session, { sessions, notify, again }: Actions): View => {
  const offer = notificationOffer(session)
  const problem = problemLine()
  const outcome = h('div', { role: 'status' })
  let overdue = 0
  const say = (text: string): void => {
    clearTimeout(overdue)
    put(outcome, text !== '' && h('p', 'outcome', text))
  }

  const sendTest = (): Promise<void> =>
    problem.attempt(
      async () => {
        say('')
        await call('testPush', {}, { org: session.org_id })
        // It may have arrived meanwhile.
        if (outcome.textContent !== '') return
        say(t('notifications.testSent'))
        overdue = setTimeout(() => say(t('notifications.testLate')), patienceMs)
      },
      (error) => problem.say(sentenceFor(error, { 429: 'notifications.testTooMany' })),
    )
  const turnOn = async (): Promise<void> => {
    const reason = await turnOnNotifications(session, sessions)
    if (reason === undefined) again()
    else problem.say(reason)
  }
  const onMessage = ({ data }: MessageEvent): void => {
    if ((data as { test?: unknown } | null)?.test === true) say(t('notifications.testArrived'))
  }
  navigator.serviceWorker?.addEventListener('message', onMessage)

  const quiet = h('section', 'content', ...(offer === 'on' ? quietForm(undefined) : []))
  if (offer === 'on') void readQuietHours().then((kept) => kept && quiet.replaceChildren(...quietForm(kept)))

  show(
    t('notifications.title'),
    h('a', { class: 'back', href: '#' }, t('common.allRequests')),
    h('h1', {}, t('notifications.title')),
    div('result', picture('bell', offer === 'on' ? 'good' : 'still'), h('p', {}, stateOf(session, sessions))),
    div(
      'actions',
      offer === 'possible' && button(t('notifications.turnOn'), 'primary', turnOn),
      offer === 'install first' && button(t('notifications.turnOn'), 'primary', notify),
      offer === 'on' && button(t('notifications.test'), 'primary', sendTest),
      offer === 'on' &&
        button(t('notifications.turnOff'), 'plain', async () => {
          await turnOffNotifications(sessions)
          again()
        }),
    ),
    div(offer === 'on' ? 'reserved told' : '', outcome, problem.element),
    quiet,
  )
  return {
    // The page may have repaired its subscription meanwhile.
    update: () => void (notificationOffer(session) !== offer && again()),
    leave: () => {
      clearTimeout(overdue)
      navigator.serviceWorker?.removeEventListener('message', onMessage)
    },
  }
}
