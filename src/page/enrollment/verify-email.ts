import { call, onlyOnce, Refused } from '../calls/api.ts'
import { clearToken } from '../shell/address.ts'
import { button, div, h, picture } from '../shell/element.ts'
import { problemLine, sentenceFor, setBusy, show, showNotice } from '../shell/frame.ts'
import { t } from '../language/text.ts'

const showDone = (): void =>
  void showNotice({
    drawing: 'phone',
    tone: 'good',
    title: t('enrollment.emailConfirmed'),
    lines: [t('enrollment.emailConfirmedWhy')],
  })

const showOver = (): void =>
  void showNotice({
    drawing: 'clock',
    title: t('enrollment.linkOver'),
    lines: [t('enrollment.emailLinkOver')],
  })

const showDamaged = (): void =>
  void showNotice({
    drawing: 'clock',
    title: t('enrollment.linkDamaged'),
    lines: [t('enrollment.linkDamagedWhy')],
  })

/** The tap uses up the token, not the opening of the link: mail scanners open links too. */
export const confirmEmail = (token: string): void => {
  if (token === 'damaged') return showDamaged()
  const problem = problemLine()
  const once = onlyOnce()
  const submit = async (): Promise<void> => {
    problem.say('')
    setBusy(true)
    try {
      await call('verifyEmail', { token }, { once })
      clearToken()
      showDone()
    } catch (error) {
      setBusy(false)
      if (error instanceof Refused && error.status === 410) showOver()
      else if (error instanceof Refused) problem.say(sentenceFor(error))
      else problem.say(t('enrollment.emailUnreachable'))
    }
  }
  show(
    t('enrollment.emailTitle'),
    div(
      'notice',
      picture('phone'),
      h('h1', {}, t('enrollment.emailQuestion')),
      h('p', {}, t('enrollment.emailWho')),
      h('p', {}, t('enrollment.emailNotYou')),
    ),
    problem.element,
    div('actions', button(t('enrollment.emailYes'), 'primary', submit)),
  )
}
