import { call, type Waiting } from '../calls/api.ts'
import { button, div, h } from '../shell/element.ts'
import { problemLine, setBusy, showNotice, type Words, words } from '../shell/frame.ts'
import { plainDigits } from '../shell/text.ts'
import { dateText } from '../language/time.ts'
import type { Proven } from '../calls/proof.ts'
import { t } from '../language/text.ts'

const wordsFor = ({ proof, active_from }: Waiting): Words => {
  if (active_from !== null)
    return {
      title: t('enrollment.approvedLater'),
      lines: [t('enrollment.approvedLaterWhy', { date: dateText(active_from) })],
    }
  if (proof === 'device') return words('enrollment.waitingForDevice')
  return words(proof === 'admin' ? 'enrollment.waitingForAdmin' : 'enrollment.enterCode')
}

/**
 * Has a device sign a challenge for work that needs no session. If it cannot sign in, a screen says why; `stillPending`
 * returns whether it has said so itself.
 */
export type Prove = (
  problem: ReturnType<typeof problemLine>,
  work: (proof: Proven['proof']) => Promise<unknown>,
  stillPending?: (now: Waiting) => boolean,
) => Promise<void>

type Ways = {
  /** With this device. A phone in several organizations has other keys, which say nothing about it. */
  prove: Prove
  done: () => void
  wayBack?: HTMLElement | false
}

/** For a device that is registered and not active yet. Calls `done` once it is. */
export const showPendingDevice = (waiting: Waiting, { prove, done, wayBack = false }: Ways): void => {
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

  const stillPending = (now: Waiting): boolean => {
    const isSame = now.proof === waiting.proof && now.active_from === waiting.active_from
    if (isSame) problem.say(t('enrollment.notApprovedYet'))
    return isSame
  }
  const check = (work: Parameters<Prove>[1]): Promise<void> => prove(problem, work, stillPending)
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

  showNotice({
    drawing: 'clock',
    ...wordsFor(waiting),
    body: [
      wantsCode && div('field', h('label', { for: 'code' }, t('enrollment.code')), code),
      problem.element,
    ],
    actions: [
      wantsCode
        ? button(t('enrollment.confirm'), 'primary', confirm)
        : button(t('enrollment.checkAgain'), 'primary', signIn),
      wantsCode && button(t('enrollment.sendCode'), 'quiet', sendAgain),
      wayBack,
    ],
  })
}
