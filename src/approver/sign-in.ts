import { call, Refused } from './api.ts'
import { button, h, picture } from './element.ts'
import { problemLine, setBusy, show, showNotice } from './frame.ts'
import { assert, CheckFailed } from './webauthn.ts'

export const showRemoved = (): void => {
  showNotice({
    drawing: 'phone',
    title: 'This phone was removed',
    lines: [
      'It is not registered here any more and decides nothing.',
      'If it is yours, ask your admin for a new link.',
    ],
  })
}

const sentenceFor = (error: unknown): string => {
  if (error instanceof CheckFailed) return error.message
  if (error instanceof Refused)
    return error.status === 429
      ? error.message
      : 'The key of this phone is not known here. Ask your admin for a new link.'
  return 'The service does not answer. Tap again when you are online.'
}

/** For a phone that is registered and whose session has ended. */
export const showSignIn = (done: () => void): void => {
  const problem = problemLine()
  const signIn = async (): Promise<void> => {
    problem.say('')
    setBusy(true)
    try {
      const { rp_id, challenge } = await call('beginSession', {})
      const response = await assert(rp_id, challenge)
      await call('openSession', { challenge, response: response as never })
      done()
    } catch (error) {
      setBusy(false)
      if (error instanceof Refused && error.code === 'device_not_registered') showRemoved()
      else problem.say(sentenceFor(error))
    }
  }
  show(
    'Sign in',
    h(
      'div',
      { class: 'notice' },
      picture('phone', 'good'),
      h('h1', {}, 'Sign in with this phone'),
      h('p', {}, 'Your face, fingerprint or PIN opens the list of what waits for you.'),
    ),
    problem.element,
    h('div', { class: 'actions' }, button('Sign in with this phone', 'primary', signIn)),
    h('p', { class: 'aside' }, 'New here? Open the link or scan the code that your admin gives you.'),
  )
}
