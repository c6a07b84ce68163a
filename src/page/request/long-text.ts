import { t } from '../language/text.ts'
import { h } from '../shell/element.ts'
import { exactText } from '../shell/text.ts'

const longest = 280
const mostLines = 6

/** Exact text. Long text is folded until it is opened; nothing of it is left out. */
export const longText = (text: string): Node => {
  const whole = exactText(text)
  if (text.length <= longest && text.split(/\n|\\u\{000a\}/).length <= mostLines) return whole
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
export const unfold = (element: HTMLElement): void => {
  for (const more of element.querySelectorAll<HTMLElement>('.more')) more.click()
}

export const firstFolded = (element: HTMLElement): Element | null => element.querySelector('.folded')
