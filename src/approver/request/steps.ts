import { button, h } from '../shell/element.ts'

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
    inputmode: 'numeric',
    pattern: '[0-9]*',
    maxlength: 2,
    autocomplete: 'off',
    'aria-describedby': 'number-problem',
  })
  const submit = (): unknown => {
    const typed = input.value.trim()
    if (/^[0-9]{2}$/.test(typed)) return approve(typed)
    problem.textContent = 'Enter the two digits that the requester sees.'
    input.focus()
    return undefined
  }
  const form = h(
    'form',
    { class: 'step', novalidate: true },
    h('h2', {}, h('label', { for: 'number' }, 'Enter the number')),
    h('p', {}, 'The requester sees two digits. If no one gave you a number, deny the request.'),
    input,
    problem,
    h(
      'div',
      { class: 'actions' },
      button('Approve', 'primary', submit),
      button('Deny', 'plain', deny),
      button('Back', 'quiet', back),
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
  const input = h('textarea', { id: 'note', rows: 3, maxlength: 280, autocomplete: 'off' })
  const submit = (): unknown => deny(input.value.replace(/\s+/g, ' ').trim() || undefined)
  return h(
    'div',
    { class: 'step' },
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'note' }, 'Note to the requester (optional)'),
      input,
      h('p', { class: 'aside' }, 'The requester sees it with your denial.'),
    ),
    h('div', { class: 'actions' }, button('Deny', 'plain', submit), button('Back', 'quiet', back)),
  )
}

export const notMeStep = (deny: () => unknown, back: () => void): HTMLElement =>
  h(
    'div',
    { class: 'step' },
    h('h2', {}, 'Didn’t expect this?'),
    h(
      'p',
      {},
      'If you deny it, the requester can’t ask you again for 20 minutes, and your administrator can see it.',
    ),
    h('div', { class: 'actions' }, button('Deny and mute', 'primary', deny), button('Back', 'quiet', back)),
  )

/** The phone does not report its location. */
export const withoutPlaceStep = (answer: (send: boolean) => void): HTMLElement =>
  h(
    'div',
    { class: 'step' },
    h('h2', {}, 'This phone didn’t share its location'),
    h('p', {}, 'Your organization has location rules. Without your location, an approval may be refused.'),
    h(
      'div',
      { class: 'actions' },
      button('Allow location and try again', 'primary', () => answer(false)),
      button('Send without location', 'plain', () => answer(true)),
    ),
  )
