import { button, h } from '../shell/element.ts'
import { plainDigits } from '../shell/text.ts'
import { t } from '../language/text.ts'

type NumberStep = {
  wrong: string | undefined
  approve: (number: string) => unknown
  back: () => void
  deny: () => void
}

/** The number that only the requester sees. Typing it ties the request to the screen in front of the approver. */
export const numberStep = ({ wrong, approve, back, deny }: NumberStep): HTMLElement => {
  const problem = h('p', { class: 'problem', role: 'alert', id: 'number-problem' }, wrong)
  const input = h('input', {
    id: 'number',
    class: 'number',
    dir: 'ltr',
    inputmode: 'numeric',
    maxlength: 2,
    autocomplete: 'off',
    'aria-describedby': 'number-problem',
  })
  const submit = (): unknown => {
    const typed = plainDigits(input.value.trim())
    if (/^[0-9]{2}$/.test(typed)) return approve(typed)
    problem.textContent = t('request.twoDigits')
    input.focus()
    return undefined
  }
  const form = h(
    'form',
    { class: 'step', novalidate: true },
    h('h2', {}, h('label', { for: 'number' }, t('request.enterNumber'))),
    h('p', {}, t('request.enterNumberWhy')),
    input,
    problem,
    h(
      'div',
      { class: 'actions' },
      button(t('common.approve'), 'primary', submit),
      button(t('common.deny'), 'danger', deny),
      button(t('common.back'), 'quiet', back),
    ),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void submit()
  })
  return form
}

/** The note is part of what is signed, so its author sees exactly what is sent. */
export const noteStep = (deny: (note?: string) => unknown, back: () => void): HTMLElement => {
  const input = h('textarea', { id: 'note', dir: 'auto', rows: 3, maxlength: 280, autocomplete: 'off' })
  const submit = (): unknown => deny(input.value.replace(/\s+/g, ' ').trim() || undefined)
  return h(
    'div',
    { class: 'step' },
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'note' }, t('request.noteLabel')),
      input,
      h('p', { class: 'aside' }, t('request.noteWhy')),
    ),
    h(
      'div',
      { class: 'actions' },
      button(t('common.deny'), 'danger', submit),
      button(t('common.back'), 'quiet', back),
    ),
  )
}

export const notMeStep = (deny: () => unknown, back: () => void): HTMLElement =>
  h(
    'div',
    { class: 'step' },
    h('h2', {}, t('request.notExpected')),
    h('p', {}, t('request.notExpectedWhy')),
    h(
      'div',
      { class: 'actions' },
      button(t('request.denyAndMute'), 'danger', deny),
      button(t('common.back'), 'quiet', back),
    ),
  )

/** The phone does not report its location. */
export const withoutPlaceStep = (answer: (send: boolean) => void): HTMLElement =>
  h(
    'div',
    { class: 'step' },
    h('h2', {}, t('request.noLocationShared')),
    h('p', {}, t('request.noLocationSharedWhy')),
    h(
      'div',
      { class: 'actions' },
      button(t('request.allowAndRetry'), 'primary', () => answer(false)),
      button(t('request.sendWithout'), 'plain', () => answer(true)),
    ),
  )
