import { call, Refused, type Waiting } from '../calls/api.ts'
import { button, h, picture } from '../shell/element.ts'
import { announce, problemLine, sentenceFor, show } from '../shell/frame.ts'
import { assert, type Answer } from '../calls/webauthn.ts'

const wordsFor = ({ proof, active_from }: Waiting): { title: string; line: string } => {
  if (active_from !== null)
    return {
      title: 'Approved, not active yet',
      line: `This phone becomes active on ${new Date(active_from).toLocaleString()}, unless someone refuses it first.`,
    }
  if (proof === 'device')
    return {
      title: 'Waiting for your other device',
      line: 'On that device, open this page, tap Devices, and approve this phone.',
    }
  if (proof === 'admin')
    return {
      title: 'Waiting for an administrator',
      line: 'You have no other active device, so an administrator must approve this phone. Ask them to do so.',
    }
  return {
    title: 'Enter the code',
    line: 'We sent a code to your mobile number. Enter it on this phone only.',
  }
}

/** For a phone that is registered and not active yet. Calls `done` once it is, and `over` if it was refused or revoked. */
export const showPendingDevice = (
  waiting: Waiting,
  { done, over }: { done: () => void; over: () => void },
): void => {
  const problem = problemLine()
  const wantsCode = waiting.proof === 'otp' && waiting.active_from === null
  const code = h('input', {
    id: 'code',
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    maxlength: 6,
    required: true,
  })
  const { title, line } = wordsFor(waiting)

  const check = (work: (proof: { challenge: string; response: Answer }) => Promise<unknown>) =>
    problem.attempt(async () => {
      const { rp_id, challenge } = await call('beginSession', {})
      const response = await assert(rp_id, challenge)
      await work({ challenge, response })
    }, explain)
  const explain = (error: unknown): void => {
    const now = error instanceof Refused ? error.data.device : undefined
    const changed = now && (now.proof !== waiting.proof || now.active_from !== waiting.active_from)
    if (now && changed) showPendingDevice(now, { done, over })
    else if (now) problem.say('Not approved yet.')
    else if (error instanceof Refused && error.code.startsWith('device_')) over()
    else problem.say(sentenceFor(error))
  }
  const signIn = () =>
    check(async (proof) => {
      await call('openSession', proof)
      done()
    })
  const confirm = (): Promise<void> => {
    const typed = code.value.trim()
    if (/^\d{6}$/.test(typed))
      return check(async (proof) => {
        await call('openSession', { ...proof, code: typed })
        done()
      })
    problem.say('Enter the six-digit code.')
    code.focus()
    return Promise.resolve()
  }
  const sendAgain = () =>
    check(async (proof) => {
      await call('sendDeviceCode', proof)
      announce('New code sent')
      problem.say('We sent a new code. Earlier codes no longer work.')
    })

  show(
    title,
    h('div', { class: 'notice' }, picture('clock', 'still'), h('h1', {}, title), h('p', {}, line)),
    wantsCode && h('div', { class: 'field' }, h('label', { for: 'code' }, 'Code'), code),
    problem.element,
    h(
      'div',
      { class: 'actions' },
      wantsCode ? button('Confirm', 'primary', confirm) : button('Check again', 'primary', signIn),
      wantsCode && button('Send a new code', 'quiet', sendAgain),
    ),
  )
}
