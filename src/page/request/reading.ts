import { t } from '../language/text.ts'
import { h } from '../shell/element.ts'
import { exactText } from '../shell/text.ts'

const longest = 280
const mostLines = 6

/** Whether text would fill the screen. */
export const isLong = (text: string): boolean =>
  text.length > longest || text.split(/\n|\\u\{000a\}/).length > mostLines

/**
 * Exact text. Long text is folded until it is opened; nothing of it is left out. `whole`: another form of the text, such as a
 * list.
 */
export const longText = (text: string, whole: Node | string = exactText(text)): Node => {
  if (!isLong(text)) return typeof whole === 'string' ? h('span', {}, whole) : whole
  const body = h('span', 'folded', whole)
  const more = h('button', { type: 'button', class: 'button quiet more' }, t('request.showAll'))
  more.addEventListener('click', () => {
    const had = document.activeElement === more
    body.className = ''
    more.remove()
    // Whoever tapped with the keyboard goes on from here.
    body.tabIndex = -1
    if (had) body.focus({ preventScroll: true })
    dispatchEvent(new Event('scroll'))
  })
  return h('span', 'long', body, more)
}

/** Opens all folded text in an element. */
const unfold = (element: HTMLElement): void => {
  for (const more of element.querySelectorAll<HTMLElement>('.more')) more.click()
}

/** The text fades out above the bar. */
const fadePx = 20
/** Of rounding. */
const slackPx = 2

/**
 * Knows whether the person has seen all of the text, from its start to its end, above the bar that covers the bottom of the
 * screen. A jump over a part of it does not count, nor does what is folded.
 */
export const createReading = (text: HTMLElement, bar: HTMLElement, finished: () => void) => {
  let isDone = false
  /** How far it was seen without a gap, from its top, and how wide it was then: another width breaks its lines anew. */
  let seen = 0
  let width = 0
  const bottom = (): number =>
    getComputedStyle(bar).position === 'sticky'
      ? Math.min(innerHeight, bar.getBoundingClientRect().top - fadePx)
      : innerHeight
  const look = (): void => {
    if (isDone) return
    const { top, bottom: end, width: now } = text.getBoundingClientRect()
    if (now !== width) seen = 0
    width = now
    const folded = text.querySelector('.folded')?.getBoundingClientRect().top
    if (seen + top + slackPx >= 0) seen = Math.max(seen, Math.min(bottom(), folded ?? end) - top)
    if (folded !== undefined || seen + slackPx < end - top) return
    isDone = true
    stop()
    finished()
  }
  const stop = (): void => {
    removeEventListener('scroll', look)
    removeEventListener('resize', look)
  }
  addEventListener('scroll', look, { passive: true })
  addEventListener('resize', look)
  return {
    look,
    stop,
    isDone: (): boolean => isDone,
    /** Opens what is folded and shows the next screen of the text, from the first line that was not seen. */
    next: (): void => {
      unfold(text)
      const { top, bottom: end } = text.getBoundingClientRect()
      scrollBy({ top: Math.min(end - bottom() + slackPx, top + seen - bottom() * 0.2) })
      look()
    },
  }
}
