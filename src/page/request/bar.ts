import type { PendingRequest } from '../calls/feed.ts'
import { t } from '../language/text.ts'
import { button, div, h } from '../shell/element.ts'
import { announce, problemLine, statusLine } from '../shell/frame.ts'
import { createReading } from './reading.ts'

type Actions = {
  approve: () => unknown
  deny: () => unknown
  denyWithNote: () => void
  notMe: () => void
  denyAll: () => void
  /** If the approver can allow the request again. */
  allow: (() => void) | undefined
}

/** The buttons below a request. Approving waits until the text was seen to its end; denying does not. */
export const createBar = (text: HTMLElement, actions: Actions) => {
  const approve = button(t('request.readFirst'), 'primary', () =>
    reading.isDone() ? actions.approve() : reading.next(),
  )
  approve.setAttribute('aria-describedby', 'warning')
  const all = button('', 'quiet', actions.denyAll)
  const { allow } = actions
  const links = div(
    'links',
    allow && button(t('request.allowAgain'), 'quiet', () => (reading.isDone() ? allow() : reading.next())),
    button(t('request.denyWithNote'), 'quiet', actions.denyWithNote),
    button(t('request.notMe'), 'quiet', actions.notMe),
  )
  const start = div('actions', div('choice', button(t('common.deny'), 'danger', actions.deny), approve))
  // Below the bar, because a small screen needs its room for the text.
  const more = h('div', {}, links)
  const step = div('steps', start)
  const [warning, problem, progress] = [statusLine('warning'), problemLine(), statusLine('progress')]
  const element = div('bar', warning.element, problem.element, progress.element, step)
  /** Says something above the buttons, which stay under the finger: a second tap must not meet another one. */
  const steadily =
    (say: (text: string) => void) =>
    (text: string): void => {
      const before = step.getBoundingClientRect().top
      say(text)
      if (step.isConnected) scrollBy(0, step.getBoundingClientRect().top - before)
    }
  let isRead = false
  /** What led to the step. */
  let origin: Element | null = null
  const reading = createReading(text, element, () => {
    approve.textContent = t('common.approve')
    if (isRead) announce(t('request.canApprove'))
  })
  const put = (next: HTMLElement): void => {
    const focused = document.activeElement
    if (start.contains(focused) || links.contains(focused)) origin = focused
    step.replaceChildren(next)
    // A step is about the text above it, and may be longer than the screen.
    element.className = next === start ? 'bar' : 'foot'
    more.replaceChildren(...(next === start ? [links] : []))
    // A step begins with its field or with what it asks. Back leads to where it began.
    const first =
      next === start ? origin : (next.querySelector('input, textarea') ?? next.querySelector('h2'))
    const target = (first ?? next.querySelector('button')) as HTMLElement | null
    if (target?.tagName === 'H2') target.tabIndex = -1
    target?.focus({ preventScroll: true })
    next.scrollIntoView({ block: 'nearest' })
  }
  return {
    element,
    more,
    step,
    warn: (text: string): void => {
      steadily(warning.say)(text)
      approve.className = text === '' ? 'button primary' : 'button plain'
    },
    complain: steadily(problem.say),
    say: steadily(progress.say),
    put,
    toStart: (): void => put(start),
    /** Once it is on the screen. */
    begin: (): void => {
      reading.look()
      isRead = true
    },
    stop: reading.stop,
    /** The pending requests of the requester, with this one. */
    follow: (same: readonly PendingRequest[]): void => {
      if (same.length < 2) return all.remove()
      if (!links.contains(all)) links.append(all)
      all.textContent = t('request.denyAllOf', { count: same.length })
    },
  }
}
