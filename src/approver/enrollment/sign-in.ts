import { call, Refused } from '../calls/api.ts'
import { lostDevice } from '../devices/lost-device.ts'
import { button, h, picture } from '../shell/element.ts'
import { problemLine, sentenceFor, setBusy, show } from '../shell/frame.ts'
import { showPendingDevice } from './pending-device.ts'
import { showRemoved } from './removed.ts'
import { assert } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'

const whyNot = (error: unknown): string =>
  error instanceof Refused && error.status !== 429 ? t('enrollment.notRegistered') : sentenceFor(error)

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
      else if (error.code === 'device_revoked') showRemoved(rpId, pending)
      else problem.say(error.code === 'device_refused' ? error.message : whyNot(error))
    }
  }
  show(
    t('enrollment.signInTitle'),
    h(
      'div',
      { class: 'notice' },
      picture('phone', 'good'),
      h('h1', {}, t('enrollment.signIn')),
      h('p', {}, t('enrollment.signInWhy')),
    ),
    problem.element,
    h('div', { class: 'actions' }, button(t('enrollment.signIn'), 'primary', signIn)),
    lostDevice(),
    h('p', { class: 'aside' }, t('enrollment.newHere')),
  )
}
