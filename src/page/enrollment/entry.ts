import { call, type Closed, Refused, type Waiting } from '../calls/api.ts'
import { forgetKey } from '../calls/sessions.ts'
import { assert, type Answer } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'
import { dateText } from '../language/time.ts'
import { button, div, h, labelled } from '../shell/element.ts'
import { nameOrganization, problemLine, sentenceFor, tellNext } from '../shell/frame.ts'
import { notice, type Notice, showNotice, words } from '../shell/notice.ts'
import type { Key } from '../shell/signed.ts'
import { codeText, plainDigits } from '../shell/text.ts'
import { showRemoved } from './removed.ts'

export type Ways = {
  /** Replaces the screen. */
  change: (next: () => void) => void
  /** The device is signed in. */
  done: () => void
  /** The way on for a person who cannot sign in. */
  back: () => void
  /** Whether the phone is signed in to another organization, so that `back` leads to the requests. */
  isIn: boolean
}

type Work = (proof: { challenge: string; response: Answer }) => Promise<unknown>

type Problem = ReturnType<typeof problemLine>

/** Whether nothing more can come of a key, on this phone or any other. */
const isOver = ({ code, data }: Refused): boolean =>
  ['device_not_registered', 'device_refused', 'not_a_member'].includes(code) ||
  (code === 'device_revoked' && !data.pending?.length)

const wayBack = ({ isIn, back }: Ways): HTMLElement =>
  button(t(isIn ? 'common.allRequests' : 'enrollment.signIn'), 'plain', back)

/** Why a device that proved its owner cannot sign in; undefined if the refusal says so itself. */
const standingOf = ({ code, data }: Refused): Notice | undefined => {
  const { organization } = data
  if (code === 'device_not_registered')
    return words('enrollment.unknownKey', 'enrollment.unknownKeyWhy', 'phone')
  if (code === 'device_refused')
    return words('enrollment.deviceRefused', 'enrollment.deviceRefusedWhy', 'phone')
  if (code === 'member_on_hold')
    return notice(
      'phone',
      t('enrollment.onHold'),
      t('enrollment.onHoldWhy', { organization: String(organization) }),
    )
  if (code !== 'not_a_member') return undefined
  return typeof organization === 'string'
    ? notice('phone', t('enrollment.notMember'), t('enrollment.notMemberWhy', { organization }))
    : words('enrollment.notMember', 'enrollment.notMemberAnywhere', 'phone')
}

/** The screen that says why a device cannot sign in, and what to do. */
const screenFor = (
  refused: Refused,
  key: Key,
  ways: Ways,
  back = wayBack(ways),
): (() => void) | undefined => {
  const { code, data } = refused
  const { device, pending } = data
  if (code === 'device_pending' && device) return () => showPendingDevice(device, key.credential_id, ways)
  if (code === 'device_revoked') return () => showRemoved(back, key, pending)
  const standing = standingOf(refused)
  return standing && (() => void showNotice(standing, back))
}

/** Shows a screen, named by the organization that the refusal is about. */
const showRefused = (screen: () => void, { data: { organization } }: Refused, { change }: Ways): void => {
  change(screen)
  nameOrganization(typeof organization === 'string' ? { organization } : undefined)
}

/** Why the service ended a session; returns false if there is no screen for it. The device can still try to sign in. */
export const showClosed = (closed: Closed, ways: Ways): boolean => {
  const refused = new Refused(403, '', closed)
  const problem = problemLine()
  const { code, credential_id: credential } = closed
  // A signature may learn more, or the membership may go on.
  const canTry = code === 'device_revoked' || code === 'member_on_hold'
  if (!canTry && isOver(refused)) forgetKey(credential)
  const go = (): unknown => (canTry ? signIn(ways, problem, { credential }) : ways.back())
  const again = div('actions', problem.element, button(t('enrollment.signIn'), 'primary', go))
  const screen = screenFor(refused, { rp_id: '', credential_id: credential }, ways, again)
  if (screen) showRefused(screen, refused, ways)
  return screen !== undefined
}

type Entry = {
  /** The only key that may sign; any that the phone offers by default. */
  credential?: string
  /** Returns whether it has said itself that the device still waits. */
  stillPending?: (now: Waiting) => boolean
}

/** Has a device sign a challenge for work that needs no session. If it cannot sign in, a screen says why. */
export const enter = async (
  ways: Ways,
  problem: Problem,
  work: Work,
  { credential, stillPending }: Entry = {},
): Promise<void> => {
  let key: Key | undefined
  await problem.attempt(
    async () => {
      const { rp_id, challenge } = await call('beginSession', {})
      const response = await assert(rp_id, challenge, credential)
      key = { rp_id, credential_id: response.id }
      return work({ challenge, response })
    },
    (error) => {
      if (!(error instanceof Refused && key)) return problem.say(sentenceFor(error))
      const { device } = error.data
      if (device && stillPending?.(device)) return
      // The answer that opened the session was lost.
      if (error.code === 'device_active') {
        tellNext(error.message)
        return ways.back()
      }
      if (isOver(error)) forgetKey(key.credential_id)
      const screen = screenFor(error, key, ways)
      if (!screen) return problem.say(sentenceFor(error))
      showRefused(screen, error, ways)
    },
  )
}

/** Signs in. */
export const signIn = (ways: Ways, problem: Problem, entry: Entry = {}, code?: string): Promise<void> =>
  enter(
    ways,
    problem,
    async (proof) => {
      await call('openSession', { ...proof, ...(code !== undefined && { code }) })
      ways.done()
      // The sessions are still to be read.
      return !ways.isIn && 'leaves'
    },
    entry,
  )

const pendingNotice = ({ proof, active_from, comparison_code: code }: Waiting): Notice => {
  if (active_from !== null)
    return notice(
      'clock',
      t('enrollment.approvedLater'),
      t('enrollment.approvedLaterWhy', { date: dateText(active_from) }),
    )
  const compare = h('strong', {}, codeText(code))
  if (proof === 'device')
    return notice('clock', t('enrollment.waitingForDevice'), t('enrollment.waitingForDeviceWhy'), compare)
  if (proof === 'admin')
    return notice('clock', t('enrollment.waitingForAdmin'), t('enrollment.waitingForAdminWhy'), compare)
  return words('enrollment.enterCode', 'enrollment.enterCodeWhy', 'clock')
}

const lookEveryMs = 3000

/** Goes on as soon as the device is active, or says why it never will be. Its session exists from the registration on. */
const follow = async (
  screen: HTMLElement,
  waiting: Waiting,
  credential: string,
  ways: Ways,
): Promise<void> => {
  const isSame = (one: { credential_id: string }): boolean => one.credential_id === credential
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
    if (!screen.isConnected) return
    if (document.hidden || screen.closest('[data-busy]')) continue
    const now = await call('listSessions', {}, { org: null }).catch(() => undefined)
    if (!screen.isConnected) return
    if (now?.sessions.some(isSame)) return ways.done()
    const closed = now?.closed.find(isSame)
    const { code, device } = (closed ?? {}) as { code?: string; device?: Waiting }
    const hasChanged = code !== 'device_pending' || device?.active_from !== waiting.active_from
    if (closed && hasChanged && showClosed(closed, ways)) return
  }
}

/** For a device that is registered and not active yet. A phone in several organizations has other keys, which say nothing about it. */
export const showPendingDevice = (waiting: Waiting, credential: string, ways: Ways): void => {
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
  const entry = { credential, stillPending }
  const confirm = (): unknown => {
    const typed = plainDigits(code.value.trim())
    if (/^\d{6}$/.test(typed)) return signIn(ways, problem, entry, typed)
    problem.say(t('enrollment.sixDigits'))
    return code.focus()
  }
  const sendAgain = async (proof: Parameters<Work>[0]): Promise<void> => {
    await call('sendDeviceCode', proof)
    problem.say(t('enrollment.codeSentWhy'))
  }
  const screen = showNotice(
    {
      ...pendingNotice(waiting),
      body: [wantsCode && labelled(t('enrollment.code'), code), problem.element],
    },
    wantsCode
      ? button(t('enrollment.confirm'), 'primary', confirm)
      : button(t('enrollment.checkAgain'), 'primary', () => signIn(ways, problem, entry)),
    wantsCode && button(t('enrollment.sendCode'), 'quiet', () => enter(ways, problem, sendAgain, entry)),
    ways.isIn && wayBack(ways),
  )
  void follow(screen, waiting, credential, ways)
}
