import { Refused } from '../calls/api.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { button, type Child, div, h, put } from './element.ts'
import { CheckFailed } from '../calls/webauthn.ts'
import { t, type Plain } from '../language/text.ts'

const place = (id: string): HTMLElement => document.getElementById(id)!

/** By then it has been read; who reads the page later would take it for its content. */
const spokenMs = 5000
let clearing = 0

/** Visible to screen readers only, and only for a while. */
export const announce = (text: string): void => {
  clearTimeout(clearing)
  place('announcement').textContent = text
  if (text !== '') clearing = setTimeout(announce, spokenMs, '')
}

/** A line with the result of a tap. Screen readers read it because the focus moves there, so it is no live region too. */
export const outcomeLine = (...children: (Node | string)[]): HTMLElement =>
  h('p', { class: 'outcome', role: 'status', 'aria-live': 'off', tabindex: -1 }, ...children)

/** A line about the state of the screen, which is read whenever it changes, and only then. */
export const statusLine = (name: string) => {
  const element = h('p', { id: name, class: name, role: 'status' })
  const say = (text: string): void => {
    if (element.textContent !== text) element.textContent = text
  }
  return { element, say }
}

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toLocaleUpperCase()

/** The head of the page: an organization with its initials or, without one, the page itself. */
export const nameOrganization = (named?: { organization: string }): void => {
  const mark = named
    ? h('span', 'logo', initialsOf(named.organization))
    : h('img', { class: 'logo', src: '/approver/icon.svg', alt: '' })
  place('logo').replaceChildren(mark)
  place('organization').textContent = named?.organization ?? t('common.title')
}

/** The screen that is shown now. */
export type View = {
  /** The pending requests have changed. */
  update?: (requests: readonly PendingRequest[]) => void
  /** The service can be reached again, or no more. */
  reached?: () => void
  /** Whether it shows by itself that requests have arrived. */
  announces?: () => boolean
  /** Another screen follows. */
  leave?: () => void
}

let news: string | undefined

/** Shown once, at the top of the next screen. */
export const tellNext = (text: string): void => {
  news = text
}

/** Replaces the current screen; a screen reader continues at the new heading. */
export const show = (title: string, ...children: Child[]): HTMLElement => {
  const outcome = news !== undefined && outcomeLine(news)
  const screen = div('screen', outcome, ...children)
  const main = place('main')
  main.replaceChildren(screen)
  setBusy(false)
  document.title = title
  if (isOutcome) tellWaiting()
  // What was announced before belongs to the screen before.
  announce(news ?? '')
  news = undefined
  const heading = screen.querySelector('h1')
  heading?.setAttribute('tabindex', '-1')
  heading?.focus({ preventScroll: true })
  scrollTo(0, 0)
  return screen
}

/** Whether there is a screen; not while the page starts. */
export const hasScreen = (): boolean => place('main').querySelector('.screen') !== null

/** The screen during a device check or a call. Not with `aria-busy`: screen readers say nothing of what changes in a busy part. */
export const setBusy = (busy: boolean): void => void place('main').toggleAttribute('data-busy', busy)

/** What an error means for the person. `known`: texts for some of the statuses of a refusal. */
export const sentenceFor = (error: unknown, known: Readonly<Record<number, Plain>> = {}): string => {
  const special = error instanceof Refused && known[error.status]
  if (special) return t(special)
  return error instanceof CheckFailed || error instanceof Refused ? error.message : t('common.unreachable')
}

/**
 * A line with the error of the last tap. `attempt` runs the work of a tap and shows why it failed. Work that returns `leaves`
 * ends with a screen that is still to come: nothing can be tapped until then.
 */
export const problemLine = () => {
  const element = h('p', { class: 'problem', role: 'alert' })
  const say = (text: string): void => void (element.textContent = text)
  const attempt = async (
    work: () => Promise<unknown>,
    explain = (error: unknown): void => say(sentenceFor(error)),
  ): Promise<void> => {
    say('')
    setBusy(true)
    try {
      if ((await work()) === 'leaves') return
    } catch (error) {
      explain(error)
    }
    setBusy(false)
  }
  return { element, say, attempt }
}

let connection: 'good' | 'slow' | 'none' = 'good'
let retryNow = (): void => undefined

/** Whether the service cannot be reached. */
export const isOffline = (): boolean => connection === 'none'

const tellConnection = (now: typeof connection): void => {
  if (now === connection) return
  connection = now
  const text = { good: undefined, slow: t('common.slow'), none: t('common.retrying') }[now]
  put(
    place('offline'),
    text !== undefined && h('p', {}, text),
    now === 'none' && button(t('common.tryNow'), 'quiet', () => retryNow()),
  )
}

let isOutcome = false

/** Whom the page waits for; nobody without a text. `ended`: how the wait ended, until another screen follows. */
export const tellWaiting = (text?: Node, ended = false): void => {
  isOutcome = ended
  const line = place('offline')
  put(line, text !== undefined && h('p', {}, text))
  // Whoever has scrolled down to what they change must read that it has not changed yet.
  if (text !== undefined) line.scrollIntoView({ block: 'nearest' })
}

/** Whether the page tries again to reach the service. Calls `changed` if it did not, or does no more. */
export const setOffline = (offline: boolean, retry: () => void, changed?: () => void): void => {
  retryNow = retry
  if (offline === isOffline()) return
  tellConnection(offline ? 'none' : 'good')
  changed?.()
}

/** Whether an answer is overdue. */
export const setSlow = (slow: boolean): void => {
  if (connection !== 'none') tellConnection(slow ? 'slow' : 'good')
}
