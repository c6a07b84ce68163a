import { keysHere } from '../calls/webauthn.ts'
import { languageChoice } from '../shell/language-choice.ts'
import { t } from '../language/text.ts'
import { isComputer } from '../shell/browser.ts'
import { button, details, div, h } from '../shell/element.ts'
import { nameOrganization, problemLine, showNotice } from '../shell/frame.ts'
import { signIn, type Ways } from './entry.ts'
import { createCode } from './hand-over.ts'
import { showWayOut } from './way-out.ts'

/** On a computer, the link of the page goes on to a phone: at once if only a phone or a security key can sign. */
const createHandOver = async (place: HTMLElement): Promise<void> => {
  const code = createCode()
  if ((await keysHere()).onDevice) place.append(details(t('enrollment.otherDevice'), div('content', code)))
  else place.append(code)
}

/** What to do about a lost device. It opens on demand, on the screen where somebody without a device arrives. */
const lostDevice = (): HTMLElement => {
  const lines = [t('devices.lostOther'), t('devices.lostLast'), t('devices.lostWait')]
  return details(t('devices.lostQuestion'), div('content', ...lines.map((line) => h('p', {}, line))))
}

const showForm = (ways: Ways): void => {
  const problem = problemLine()
  const again = (): void => showForm(ways)
  nameOrganization()
  const handOver = h('div')
  showNotice({
    drawing: 'phone',
    tone: '',
    title: t('enrollment.signIn'),
    window: t('enrollment.signInTitle'),
    lines: [t('enrollment.signInWhy')],
    body: [problem.element],
    actions: [button(t('enrollment.signIn'), 'primary', () => signIn(ways, problem))],
    foot: [
      lostDevice(),
      h('p', 'aside', t('enrollment.newHere')),
      handOver,
      div('foot', languageChoice(again)),
    ],
  })
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
