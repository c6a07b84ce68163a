import { call, Refused } from './api.ts'
import { button, h, picture } from './element.ts'
import { problemLine, setBusy, show, showNotice } from './frame.ts'

const showDone = (): void =>
  void showNotice({
    drawing: 'phone',
    tone: 'good',
    title: 'Address confirmed',
    lines: ['Thank you. You can close this page.'],
  })

const showOver = (): void =>
  void showNotice({
    drawing: 'clock',
    title: 'This link has expired or was already used',
    lines: ['It is good for one day, until a newer one is sent. Ask for a new one in the app.'],
  })

/** The token is spent by the tap and not by opening the link: what looks at links in mails opens them too. */
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
      else problem.say('No connection. Your link is still good; tap again.')
    }
  }
  show(
    'Confirm your e-mail address',
    h(
      'div',
      { class: 'notice' },
      picture('phone'),
      h('h1', {}, 'Is this address yours?'),
      h('p', {}, 'Somebody, probably you, gave it for an account.'),
      h('p', {}, 'If it was not you, close this page; nothing happens.'),
    ),
    problem.element,
    h('div', { class: 'actions' }, button('Yes, confirm it', 'primary', submit)),
  )
}
