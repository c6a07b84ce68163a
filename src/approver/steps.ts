import { button, h } from './element.ts'

type NumberStep = {
  wrong: string | undefined
  approve: (number: string) => unknown
  back: () => void
  deny: () => void
}

/** The number that only whoever asks can tell: it joins the phone to the screen in front of the approver. */
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
    problem.textContent = 'Type the two digits that whoever asked can see.'
    input.focus()
    return undefined
  }
  const form = h(
    'form',
    { class: 'step', novalidate: true },
    h('h2', {}, h('label', { for: 'number' }, 'Type the number shown to you')),
    h('p', {}, 'Whoever asked sees two digits. If nobody showed you any, deny.'),
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

export const notMeStep = (deny: () => unknown, back: () => void): HTMLElement =>
  h(
    'div',
    { class: 'step' },
    h('h2', {}, 'You did not expect this?'),
    h('p', {}, 'Deny it, and whoever asked cannot ask you again for 20 minutes. Your admin sees it.'),
    h('div', { class: 'actions' }, button('Deny and mute', 'primary', deny), button('Back', 'quiet', back)),
  )

/** The check went well and the phone does not say where it is. */
export const withoutPlaceStep = (answer: (send: boolean) => void): HTMLElement =>
  h(
    'div',
    { class: 'step' },
    h('h2', {}, 'The phone did not say where it is'),
    h('p', {}, 'Your organization has rules about the place. Without it, the rules may deny this.'),
    h(
      'div',
      { class: 'actions' },
      button('Allow it and try again', 'primary', () => answer(false)),
      button('Send without the place', 'plain', () => answer(true)),
    ),
  )
