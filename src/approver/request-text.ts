import { h } from './element.ts'
import type { PendingRequest } from './feed.ts'
import { clockText, exactText, factorsInWords, headline, requesterText } from './text.ts'
import { countDown } from './time.ts'

const line = (label: string, ...value: (Node | string)[]): HTMLElement =>
  h('div', { class: 'line' }, h('dt', {}, label), h('dd', {}, ...value))

type Field = NonNullable<PendingRequest['subject']>['fields'][number]

const fieldLine = ({ label, value, before }: Field): HTMLElement =>
  before === undefined
    ? line(label, exactText(value))
    : line(label, h('del', {}, exactText(before)), ' ', h('ins', {}, exactText(value)))

/** The request: the headline and fields of the subject that will be signed, then the claims of the requester. */
export const requestText = ({ action, subject, reason, factors, ...who }: PendingRequest): HTMLElement =>
  h(
    'section',
    { class: 'paper' },
    h('h1', { class: 'action' }, exactText(headline({ action, subject }))),
    h(
      'dl',
      {},
      ...(subject?.fields ?? []).map(fieldLine),
      action !== headline({ action, subject }) &&
        line('In the requester’s words (not verified)', exactText(action)),
      reason !== null && line('Reason', exactText(reason)),
      line('Requester', requesterText(who)),
      line('Checked', factorsInWords(factors)),
    ),
  )

type Left = { element: HTMLElement; follow: (moment: number) => void; stop: () => void }

/** The time left, as a number and as a bar. Calls `over` when it has run out. */
export const timeLeft = (wholeMs: number, say: (text: string) => void, over: () => void): Left => {
  const number = h('span', { class: 'digits' })
  const bar = h('progress', { max: wholeMs, 'aria-hidden': 'true' })
  const element = h('div', { class: 'left' }, h('p', { role: 'timer' }, number, ' left to decide'), bar)
  let stop: (() => void) | undefined
  const tick = (ms: number): void => {
    number.textContent = clockText(ms)
    bar.value = ms
    element.classList.toggle('short', ms <= 30_000)
    if (ms === 0) over()
  }
  return {
    element,
    follow: (moment) => {
      stop?.()
      stop = countDown(moment, tick, say)
    },
    stop: () => stop?.(),
  }
}
