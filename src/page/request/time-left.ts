import { div, h } from '../shell/element.ts'
import { clockText } from '../shell/text.ts'
import { countDown, urgentMs } from '../language/time.ts'
import { nodes } from '../language/text.ts'

/** The time left, as a number and as a bar. Calls `over` when it has run out. */
export const timeLeft = (wholeMs: number, say: (text: string) => void, over: () => void) => {
  const number = h('span', 'digits')
  const bar = h('progress', { max: wholeMs, 'aria-hidden': 'true' })
  const element = div('left', h('p', { role: 'timer' }, nodes('request.leftToDecide', { time: number })), bar)
  let stop: (() => void) | undefined
  const tick = (ms: number): void => {
    number.textContent = clockText(ms)
    bar.value = ms
    element.classList.toggle('short', ms <= urgentMs)
    if (ms === 0) over()
  }
  return {
    element,
    follow: (moment: number): void => {
      stop?.()
      stop = countDown(moment, tick, say)
    },
    stop: () => stop?.(),
  }
}
