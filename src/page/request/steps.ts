import { button, div, h } from '../shell/element.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { exactLine, framed, joined, plainDigits } from '../shell/text.ts'
import { argvOf } from './request-text.ts'
import { locale, nodes, t } from '../language/text.ts'

/** A requester that was reported cannot ask for so long. In the digits of the language. */
export const muted = { minutes: 20 }

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

/** The way on, and back. */
export const ways = (label: string, kind: 'primary' | 'danger', go: () => unknown, back: () => void) =>
  div('actions', button(label, kind, go), button(t('common.back'), 'quiet', back))

/** The number that only the requester sees. Typing it ties the request to the screen in front of the approver. */
export const numberStep = ({ wrong, approve, back, deny }: NumberStep): HTMLElement => {
  const problem = h('p', { class: 'problem', role: 'alert', id: 'number-problem' }, wrong)
  const submit = (): unknown => {
    const typed = boxes.read()
    if (typed.length === 2) return approve(typed)
    problem.textContent = t('request.twoDigits')
    boxes.focusMissing()
    // The problem pushes the buttons down.
    step.scrollIntoView({ block: 'nearest' })
    return undefined
  }
  const boxes = createBoxes(submit)
  const step = div(
    'step',
    h('h2', { id: 'number-title' }, t('request.enterNumber')),
    h('p', { id: 'number-why' }, t('request.enterNumberWhy')),
    boxes.element,
    problem,
    div('choice', button(t('common.deny'), 'danger', deny), button(t('common.approve'), 'primary', submit)),
    button(t('common.back'), 'quiet', back),
  )
  return step
}

/** The note is part of what is signed, so its author sees exactly what is sent. */
export const noteStep = (deny: (note?: string) => unknown, back: () => void): HTMLElement => {
  const input = h('textarea', {
    id: 'note',
    dir: 'auto',
    rows: 3,
    maxlength: 280,
    autocomplete: 'off',
    'aria-describedby': 'note-why',
  })
  const submit = (): unknown => deny(input.value.replace(/\s+/g, ' ').trim() || undefined)
  return div(
    'step',
    div(
      'field',
      h('label', { for: 'note' }, t('request.noteLabel')),
      input,
      h('p', { class: 'aside', id: 'note-why' }, t('request.noteWhy')),
    ),
    ways(t('common.deny'), 'danger', submit, back),
  )
}

export const notMeStep = (deny: () => unknown, back: () => void): HTMLElement =>
  div(
    'step',
    h('h2', {}, t('request.notExpected')),
    h('p', {}, t('request.reportWhy', muted)),
    ways(t('request.denyAndReport'), 'danger', deny, back),
  )

type Grant = NonNullable<PendingRequest['grant']>

/** For how long, in the largest unit that is exact. */
const spanText = (seconds: number): string => {
  const [unit, length] = seconds % 3600 === 0 ? (['hour', 3600] as const) : (['minute', 60] as const)
  return new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'long' }).format(
    seconds / length,
  )
}

/** What may differ, as the request above shows it. */
const partsOf = ({ free }: Grant, subject: PendingRequest['subject']): readonly string[] => {
  const argv = argvOf(subject)
  return argv ? argv.filter((_, at) => free.includes(String(at))) : free
}

/** The command with a frame around what may differ: by now it may have scrolled away. */
const pattern = ({ free }: Grant, subject: PendingRequest['subject']): HTMLElement | undefined => {
  const words = argvOf(subject)?.flatMap((word, at) => [
    free.includes(String(at)) ? framed(word) : exactLine(word),
    ' ',
  ])
  return words && h('p', {}, h('bdi', { dir: 'ltr' }, ...words))
}

/** For how long and how often the same is allowed again: before it is, and afterwards. */
export const allowText = (
  { seconds, uses: count }: Grant,
  text: 'request.allowWhy' | 'request.allowedAgain' = 'request.allowWhy',
): string => t(text, { time: spanText(seconds), count })

/** Allows the same again, which is part of what is signed. */
export const allowStep = (
  { grant, subject }: PendingRequest,
  approve: () => unknown,
  back: () => void,
): HTMLElement => {
  const parts = partsOf(grant!, subject)
  return div(
    'step',
    h('h2', {}, t('request.allowAgain')),
    h('p', {}, allowText(grant!)),
    parts.length > 0 && pattern(grant!, subject),
    h(
      'p',
      {},
      parts.length === 0
        ? t('request.allowSame')
        : nodes('request.allowOther', { parts: joined(parts.map(framed), 'conjunction') }),
    ),
    ways(t('request.allowAgain'), 'primary', approve, back),
  )
}

export type WithoutPlace = 'again' | 'send' | 'back' | 'deny'

/** The phone does not report its location. */
export const withoutPlaceStep = (answer: (choice: WithoutPlace) => void): HTMLElement =>
  div(
    'step',
    h('h2', {}, t('request.noLocationShared')),
    h('p', {}, t('request.noLocationSharedWhy')),
    div(
      'actions',
      button(t('common.tryAgain'), 'primary', () => answer('again')),
      button(t('request.approveWithout'), 'plain', () => answer('send')),
      button(t('common.deny'), 'danger', () => answer('deny')),
    ),
    button(t('common.back'), 'quiet', () => answer('back')),
  )
