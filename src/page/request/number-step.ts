import { button, div, h } from '../shell/element.ts'
import { plainDigits } from '../shell/text.ts'
import { t } from '../language/text.ts'

type NumberStep = {
  wrong: string | undefined
  approve: (number: string) => unknown
  back: () => void
  deny: () => void
}

/** The digits in what was typed or pasted, in any script. */
const digitsIn = (text: string): string[] => plainDigits(text).match(/[0-9]/g) ?? []

const digitBox = (label: string): HTMLInputElement =>
  h('input', {
    class: 'digit',
    dir: 'ltr',
    inputmode: 'numeric',
    autocomplete: 'off',
    'aria-label': label,
    'aria-describedby': 'number-problem',
  })

/** Two boxes that work as one field: typing and pasting go on in the second, and Backspace goes back. */
const createBoxes = (submit: () => unknown) => {
  const [first, second] = [digitBox(t('request.firstDigit')), digitBox(t('request.secondDigit'))]
  const take = (box: HTMLInputElement): void => {
    const [one = '', other] = digitsIn(box.value)
    box.value = one
    if (box !== first || one === '') return
    if (other !== undefined) second.value = other
    second.focus()
  }
  for (const box of [first, second]) {
    box.addEventListener('input', () => take(box))
    // Typing replaces the digit.
    box.addEventListener('focus', () => box.select())
  }
  for (const box of [first, second])
    box.addEventListener('keydown', (event) => void (event.key === 'Enter' && submit()))
  second.addEventListener('keydown', (event) => {
    if (event.key !== 'Backspace' || second.value !== '') return
    event.preventDefault()
    first.value = ''
    first.focus()
  })
  return {
    element: h(
      'div',
      { class: 'boxes', role: 'group', 'aria-labelledby': 'number-title', 'aria-describedby': 'number-why' },
      first,
      second,
    ),
    read: (): string => first.value + second.value,
    focusMissing: (): void => (first.value === '' ? first : second).focus(),
  }
}

/** The number that only the requester sees. Typing it ties the request to the screen in front of the approver. */
export const numberStep = ({ wrong, approve, back, deny }: NumberStep): HTMLElement => {
  const problem = h('p', { class: 'problem', role: 'alert', id: 'number-problem' }, wrong)
  const submit = (): unknown => {
    const typed = boxes.read()
    if (typed.length === 2) return approve(typed)
    problem.textContent = t('request.twoDigits')
    boxes.focusMissing()
    return undefined
  }
  const boxes = createBoxes(submit)
  return div(
    'step',
    h('h2', { id: 'number-title' }, t('request.enterNumber')),
    h('p', { id: 'number-why' }, t('request.enterNumberWhy')),
    boxes.element,
    problem,
    div('choice', button(t('common.deny'), 'danger', deny), button(t('common.approve'), 'primary', submit)),
    button(t('common.back'), 'quiet', back),
  )
}
