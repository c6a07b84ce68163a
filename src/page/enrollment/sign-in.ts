import { keysHere } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'
import { isComputer } from '../shell/browser.ts'
import { languageChoice } from '../shell/choice.ts'
import { button, details, div, h } from '../shell/element.ts'
import { nameOrganization, problemLine, showNotice } from '../shell/frame.ts'
import { signIn, type Ways } from './entry.ts'
import { createCode, showWayOut } from './hand-over.ts'

/** On a computer, the link of the page goes on to a phone: at once if only a phone or a security key can sign. */
const handOver = async (place: HTMLElement): Promise<void> => {
  const code = createCode()
  if ((await keysHere()).onDevice) place.append(details(t('enrollment.otherDevice'), div('content', code)))
  else place.append(code)
}

const showForm = (ways: Ways): void => {
  const problem = problemLine()
  nameOrganization()
  const place = h('div')
  // What to do about a lost device opens on demand, on the screen where somebody without a device arrives.
  const lost = [t('devices.lostOther'), t('devices.lostLast'), t('devices.lostWait')]
  showNotice(
    {
      drawing: 'phone',
      title: t('enrollment.signIn'),
      lines: [t('enrollment.signInWhy')],
      body: [problem.element],
    },
    button(t('enrollment.signIn'), 'primary', () => signIn(ways, problem)),
  ).append(
    details(t('devices.lostQuestion'), div('content', ...lost.map((line) => h('p', {}, line)))),
    h('p', 'aside', t('enrollment.newHere')),
    place,
    div(
      'foot',
      languageChoice(() => showForm(ways)),
    ),
  )
  if (isComputer && location.protocol === 'https:') void handOver(place)
}

/** For a device that is registered and whose session has ended. */
export const showSignIn = (change: Ways['change'], done: () => void): void => {
  const back = (): void => change(() => showForm(ways))
  const ways = { change, done, back, isIn: false }
  back()
  void showWayOut(() => showForm(ways))
}
