import { call, Refused } from '../calls/api.ts'
import { button, h, picture } from '../shell/element.ts'
import { problemLine, sentenceFor, setBusy, show } from '../shell/frame.ts'
import { showPendingDevice } from './pending-device.ts'
import { showRemoved } from './removed.ts'
import { assert } from '../calls/webauthn.ts'

const whyNot = (error: unknown): string =>
  error instanceof Refused && error.status !== 429
    ? 'This phone isn’t registered here. Ask your administrator for a new link.'
    : sentenceFor(error)

/** For a phone that is registered and whose session has ended. */
export const showSignIn = (done: () => void): void => {
  const problem = problemLine()
  const signIn = async (): Promise<void> => {
    problem.say('')
    setBusy(true)
    let rpId = ''
    try {
      const { rp_id, challenge } = await call('beginSession', {})
      rpId = rp_id
      const response = await assert(rp_id, challenge)
      await call('openSession', { challenge, response })
      done()
    } catch (error) {
      setBusy(false)
      if (!(error instanceof Refused)) return problem.say(sentenceFor(error))
      const { device, pending } = error.data
      if (error.code === 'device_pending' && device)
        showPendingDevice(device, { done, over: () => showSignIn(done) })
      else if (error.code === 'device_not_registered') showRemoved(rpId, pending)
      else problem.say(error.code === 'device_refused' ? error.message : whyNot(error))
    }
  }
  show(
    'Sign in',
    h(
      'div',
      { class: 'notice' },
      picture('phone', 'good'),
      h('h1', {}, 'Sign in with this phone'),
      h('p', {}, 'Use your face, fingerprint or PIN to see your requests.'),
    ),
    problem.element,
    h('div', { class: 'actions' }, button('Sign in with this phone', 'primary', signIn)),
    h('p', { class: 'aside' }, 'New here? Open the link or scan the code from your administrator.'),
  )
}
