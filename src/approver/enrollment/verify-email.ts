import { call, Refused } from '../calls/api.ts'
import { button, h, picture } from '../shell/element.ts'
import { problemLine, setBusy, show, showNotice } from '../shell/frame.ts'

const showDone = (): void =>
  void showNotice({
    drawing: 'phone',
    tone: 'good',
    title: 'E-mail address confirmed',
    lines: ['Thank you. You can close this page.'],
  })

const showOver = (): void =>
  void showNotice({
    drawing: 'clock',
    title: 'This link has expired or was already used',
    lines: ['A link works for one day, until a newer one is sent. Request a new link in the app.'],
  })

/** The tap uses up the token, not the opening of the link: mail scanners open links too. */
export const confirmEmail = (token: string): void => {
  const problem = problemLine()
  const submit = async (): Promise<void> => {
    problem.say('')
    setBusy(true)
    try {
      await call('verifyEmail', { token })
      showDone()
    } catch (error) {
      setBusy(false)
      if (error instanceof Refused && error.status === 410) showOver()
      else if (error instanceof Refused) problem.say(error.message)
      else problem.say('Can’t reach the service. Your link still works. Tap again.')
    }
  }
  show(
    'Confirm your e-mail address',
    h(
      'div',
      { class: 'notice' },
      picture('phone'),
      h('h1', {}, 'Is this your e-mail address?'),
      h('p', {}, 'Someone, probably you, entered it for an account.'),
      h('p', {}, 'If it wasn’t you, close this page. Nothing will happen.'),
    ),
    problem.element,
    h('div', { class: 'actions' }, button('Yes, confirm', 'primary', submit)),
  )
}
