import { keysHere } from '../calls/webauthn.ts'
import { languageChoice } from '../shell/language-choice.ts'
import { t } from '../language/text.ts'
import { isComputer } from '../shell/browser.ts'
import { lostDevice } from './lost-device.ts'
import { button, div, h, picture } from '../shell/element.ts'
import { nameOrganization, problemLine, show } from '../shell/frame.ts'
import { signIn, type Ways } from './entry.ts'
import { createCode } from './hand-over.ts'
import { showWayOut } from './way-out.ts'

/** On a computer, the link of the page goes on to a phone: at once if only a phone or a security key can sign. */
const createHandOver = async (place: HTMLElement): Promise<void> => {
  const code = createCode()
  if ((await keysHere()).onDevice)
    place.append(
      h('details', {}, h('summary', { class: 'row' }, t('enrollment.otherDevice')), div('content', code)),
    )
  else place.append(code)
}

const showForm = (ways: Ways): void => {
  const problem = problemLine()
  const again = (): void => showForm(ways)
  nameOrganization()
  const handOver = h('div')
  show(
    t('enrollment.signInTitle'),
    div(
      'notice',
      picture('phone'),
      h('h1', {}, t('enrollment.signIn')),
      h('p', {}, t('enrollment.signInWhy')),
    ),
    problem.element,
    div(
      'actions',
      button(t('enrollment.signIn'), 'primary', () => signIn(ways, problem)),
    ),
    lostDevice(),
    h('p', { class: 'aside' }, t('enrollment.newHere')),
    handOver,
    div('foot', languageChoice(again)),
  )
  if (isComputer && location.protocol === 'https:') void createHandOver(handOver)
}

type Page = { change: (next: () => void) => void; done: () => void }

/** For a device that is registered and whose session has ended. */
export const showSignIn = ({ change, done }: Page): void => {
  const back = (): void => change(() => showForm(ways))
  const ways = { change, done, back, isIn: false }
  showForm(ways)
  void showWayOut(() => showForm(ways))
}
