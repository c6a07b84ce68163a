import { call, Refused } from '../calls/api.ts'
import { proveOwner, type Proven } from '../calls/proof.ts'
import { keysHere } from '../calls/webauthn.ts'
import { languageChoice } from '../language/language-choice.ts'
import { t } from '../language/text.ts'
import { isComputer } from '../shell/browser.ts'
import { lostDevice } from '../devices/lost-device.ts'
import { button, h, picture } from '../shell/element.ts'
import { problemLine, sentenceFor, setBusy, show } from '../shell/frame.ts'
import { createCode } from './hand-over.ts'
import { showPendingDevice } from './pending-device.ts'
import { showStanding } from './standing.ts'
import { showWayOut } from './way-out.ts'

/** On a computer, the link of the page goes on to a phone: at once if only a phone or a security key can sign. */
const createHandOver = async (place: HTMLElement): Promise<void> => {
  const code = createCode()
  if ((await keysHere()).onDevice)
    place.append(
      h(
        'details',
        {},
        h('summary', { class: 'row' }, t('enrollment.otherDevice')),
        h('div', { class: 'content' }, code),
      ),
    )
  else place.append(code)
}

const showForm = (done: () => void): void => {
  const problem = problemLine()
  const again = (): void => showForm(done)
  const signIn = async (): Promise<void> => {
    problem.say('')
    setBusy(true)
    let proven: Proven | undefined
    try {
      proven = await proveOwner()
      await call('openSession', proven.proof)
      done()
    } catch (error) {
      setBusy(false)
      if (!(error instanceof Refused && proven)) return problem.say(sentenceFor(error))
      const { rpId, proof } = proven
      const { device } = error.data
      if (error.code === 'device_pending' && device)
        showPendingDevice(device, { credential: proof.response.id, done, again })
      else if (!showStanding(error, rpId, again)) problem.say(sentenceFor(error))
    }
  }
  const handOver = h('div')
  show(
    t('enrollment.signInTitle'),
    h(
      'div',
      { class: 'notice' },
      picture('phone'),
      h('h1', {}, t('enrollment.signIn')),
      h('p', {}, t('enrollment.signInWhy')),
    ),
    problem.element,
    h('div', { class: 'actions' }, button(t('enrollment.signIn'), 'primary', signIn)),
    lostDevice(),
    h('p', { class: 'aside' }, t('enrollment.newHere')),
    handOver,
    h('div', { class: 'foot' }, languageChoice(again)),
  )
  if (isComputer && location.protocol === 'https:') void createHandOver(handOver)
}

/** For a device that is registered and whose session has ended. */
export const showSignIn = (done: () => void): void => {
  showForm(done)
  void showWayOut(() => showForm(done))
}
