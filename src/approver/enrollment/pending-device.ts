import { call, Refused, type Waiting } from '../calls/api.ts'
import { button, h, picture } from '../shell/element.ts'
import { problemLine, sentenceFor, setBusy, show, tellNext } from '../shell/frame.ts'
import { plainDigits } from '../shell/text.ts'
import { dateText } from '../shell/time.ts'
import { showStanding } from './standing.ts'
import { proveOwner, type Proven } from '../calls/proof.ts'
import { t } from '../language/text.ts'

const wordsFor = ({ proof, active_from }: Waiting): { title: string; line: string } => {
  if (active_from !== null)
    return {
      title: t('enrollment.approvedLater'),
      line: t('enrollment.approvedLaterWhy', { date: dateText(active_from) }),
    }
  if (proof === 'device')
    return {
      title: t('enrollment.waitingForDevice'),
      line: t('enrollment.waitingForDeviceWhy'),
    }
  if (proof === 'admin')
    return {
      title: t('enrollment.waitingForAdmin'),
      line: t('enrollment.waitingForAdminWhy'),
    }
  return {
    title: t('enrollment.enterCode'),
    line: t('enrollment.enterCodeWhy'),
  }
}

type Ways = {
  /** Of this device. A phone in several organizations has other keys, which say nothing about it. */
  credential: string
  done: () => void
  again: () => void
}

/** For a device that is registered and not active yet. Calls `done` once it is; `again` starts with the sign-in. */
export const showPendingDevice = (waiting: Waiting, { credential, done, again }: Ways): void => {
  const problem = problemLine()
  const wantsCode = waiting.proof === 'otp' && waiting.active_from === null
  const code = h('input', {
    id: 'code',
    dir: 'ltr',
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    maxlength: 6,
    required: true,
  })
  const { title, line } = wordsFor(waiting)
  let rpId = ''

  // Busy until the next screen: the session is still to be read.
  const check = async (work: (proof: Proven['proof']) => Promise<unknown>): Promise<void> => {
    problem.say('')
    setBusy(true)
    try {
      const proven = await proveOwner(credential)
      rpId = proven.rpId
      await work(proven.proof)
    } catch (error) {
      setBusy(false)
      explain(error)
    }
  }
  const explain = (error: unknown): void => {
    const refused = error instanceof Refused ? error : undefined
    // The answer that opened the session was lost.
    if (refused?.code === 'device_active') {
      tellNext(refused.message)
      return again()
    }
    const now = refused?.data.device
    const changed = now && (now.proof !== waiting.proof || now.active_from !== waiting.active_from)
    if (now && changed) showPendingDevice(now, { credential, done, again })
    else if (now) problem.say(t('enrollment.notApprovedYet'))
    else if (!refused || !showStanding(refused, rpId, again)) problem.say(sentenceFor(error))
  }
  const signIn = () =>
    check(async (proof) => {
      await call('openSession', proof)
      done()
    })
  const confirm = (): Promise<void> => {
    const typed = plainDigits(code.value.trim())
    if (/^\d{6}$/.test(typed))
      return check(async (proof) => {
        await call('openSession', { ...proof, code: typed })
        done()
      })
    problem.say(t('enrollment.sixDigits'))
    code.focus()
    return Promise.resolve()
  }
  const sendAgain = () =>
    check(async (proof) => {
      await call('sendDeviceCode', proof)
      setBusy(false)
      problem.say(t('enrollment.codeSentWhy'))
    })

  show(
    title,
    h('div', { class: 'notice' }, picture('clock', 'still'), h('h1', {}, title), h('p', {}, line)),
    wantsCode && h('div', { class: 'field' }, h('label', { for: 'code' }, t('enrollment.code')), code),
    problem.element,
    h(
      'div',
      { class: 'actions' },
      wantsCode
        ? button(t('enrollment.confirm'), 'primary', confirm)
        : button(t('enrollment.checkAgain'), 'primary', signIn),
      wantsCode && button(t('enrollment.sendCode'), 'quiet', sendAgain),
    ),
  )
}
