import { hasFolded, unfold } from './long-text.ts'

/** As much of the last line as may still be faded. */
const slackPx = 4

/** Knows whether the person has seen the text to its end, above the bar that covers the bottom of the screen. */
export const createReading = (text: HTMLElement, bar: HTMLElement, finished: () => void) => {
  let isDone = false
  const bottom = (): number =>
    getComputedStyle(bar).position === 'sticky'
      ? Math.min(innerHeight, bar.getBoundingClientRect().top)
      : innerHeight
  const look = (): void => {
    if (isDone || hasFolded(text) || text.getBoundingClientRect().bottom > bottom() + slackPx) return
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
    /** Opens what is folded and shows the next screen of the text. */
    next: (): void => {
      unfold(text)
      const left = text.getBoundingClientRect().bottom - bottom()
      scrollBy({ top: Math.min(left + slackPx, bottom() * 0.8) })
      look()
    },
  }
}
