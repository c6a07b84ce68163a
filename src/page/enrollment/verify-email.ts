import { call, onlyOnce, Refused } from '../calls/api.ts'
import { clearToken } from '../shell/address.ts'
import { button } from '../shell/element.ts'
import { problemLine, sentenceFor, setBusy, showNotice, words } from '../shell/frame.ts'
import { t } from '../language/text.ts'

const showDone = (): void =>
  void showNotice({ drawing: 'phone', tone: 'good', ...words('enrollment.emailConfirmed') })

const showOver = (): void =>
  void showNotice({
    drawing: 'clock',
    title: t('enrollment.linkOver'),
    lines: [t('enrollment.emailLinkOver')],
  })

/** The tap uses up the token, not the opening of the link: mail scanners open links too. */
export const confirmEmail = (token: string): void => {
  if (token === 'damaged') return void showNotice({ drawing: 'clock', ...words('enrollment.linkDamaged') })
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
  showNotice({
    drawing: 'phone',
    tone: '',
    title: t('enrollment.emailQuestion'),
    window: t('enrollment.emailTitle'),
    lines: [t('enrollment.emailWho'), t('enrollment.emailNotYou')],
    body: [problem.element],
    actions: [button(t('enrollment.emailYes'), 'primary', submit)],
  })
}
