import { call, Refused, type Enrollment } from '../calls/api.ts'
import { button, h, picture } from '../shell/element.ts'
import { nameOrganization, problemLine, setBusy, show, showNotice } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'
import { showPendingDevice } from './pending-device.ts'
import { CheckFailed, missingPart, register, type Answer } from '../calls/webauthn.ts'
import { nodes, t, withoutIsolates } from '../language/text.ts'

const showOver = (): void => {
  showNotice({
    drawing: 'clock',
    title: t('enrollment.linkOver'),
    lines: [t('enrollment.newLink')],
  })
}

const showUnreachable = (again: () => void): void => {
  showNotice({
    drawing: 'cross',
    title: t('common.noConnection'),
    lines: [t('enrollment.linkStillWorks')],
    actions: [button(t('common.tryAgain'), 'primary', again)],
  })
}

type Hints = { getHighEntropyValues: (names: string[]) => Promise<{ model?: string }> }

const systems = (): (readonly [RegExp, string])[] => [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, t('enrollment.androidDevice')],
  [/Macintosh/, 'Mac'],
  [/Windows/, t('enrollment.windowsComputer')],
  [/CrOS/, 'Chromebook'],
  [/Linux/, t('enrollment.linuxComputer')],
]

/** A name for this device, such as "Pixel 9 of Ada". Never longer than the service accepts. */
const suggestedName = async (firstName: string): Promise<string> => {
  const hints = (navigator as { userAgentData?: Hints }).userAgentData
  const model = (await hints?.getHighEntropyValues(['model']).catch(() => undefined))?.model
  const system = systems().find(([sign]) => sign.test(navigator.userAgent))?.[1]
  const device = model || (system ?? t('enrollment.phone'))
  const whole = firstName ? t('enrollment.deviceOf', { device, name: firstName }) : device
  return withoutIsolates(whole).slice(0, 60)
}

type Ends = { done: (org_id: number) => void; signIn: () => void }

const showRegistration = (token: string, enrollment: Enrollment, name: string, ends: Ends): void => {
  const problem = problemLine()
  const field = h('input', {
    id: 'name',
    dir: 'auto',
    value: name,
    maxlength: 60,
    autocomplete: 'off',
    required: true,
  })
  // A new key is kept until the service has it, so that the phone does not create another one.
  let made: Answer | undefined

  const signInInstead = (): void => {
    showNotice({
      drawing: 'phone',
      title: t('enrollment.alreadyRegistered'),
      lines: [t('enrollment.alreadyRegisteredWhy')],
      actions: [button(t('enrollment.openRequests'), 'primary', ends.signIn)],
    })
  }
  const explain = (error: unknown): void => {
    if (error instanceof CheckFailed && error.registered) signInInstead()
    else if (error instanceof Refused && error.status === 410) showOver()
    else if (error instanceof CheckFailed || error instanceof Refused) problem.say(error.message)
    else problem.say(t('enrollment.noAnswer'))
    if (error instanceof Refused) made = undefined
  }
  const submit = async (): Promise<void> => {
    problem.say('')
    const called = field.value.trim()
    if (!called) {
      problem.say(t('enrollment.nameMissing'))
      field.focus()
      return
    }
    setBusy(true)
    try {
      made ??= await register(enrollment)
      const device = await call('registerDevice', { token, name: called, response: made })
      if (device.state === 'active') ends.done(device.org_id)
      else showPendingDevice(device, { done: () => ends.done(device.org_id), over: ends.signIn })
    } catch (error) {
      setBusy(false)
      explain(error)
    }
  }
  const hello = enrollment.first_name
    ? t('enrollment.helloName', { name: enrollment.first_name })
    : t('enrollment.hello')
  show(
    t('enrollment.register'),
    h(
      'div',
      { class: 'notice' },
      picture('phone', 'good'),
      h('h1', {}, hello),
      h(
        'p',
        {},
        nodes('enrollment.asksYou', { organization: h('strong', {}, exactText(enrollment.organization)) }),
      ),
      h('p', {}, t('enrollment.staysHere')),
    ),
    h('div', { class: 'field' }, h('label', { for: 'name' }, t('enrollment.nameLabel')), field),
    problem.element,
    h('div', { class: 'actions' }, button(t('enrollment.register'), 'primary', submit)),
  )
}

/** Registers a phone with the token of a link. Only a successful registration uses up the token. */
export const enroll = async (token: string, ends: Ends): Promise<void> => {
  const missing = await missingPart()
  if (missing !== undefined) {
    showNotice({ drawing: 'phone', title: t('enrollment.browserUnusable'), lines: [missing] })
    return
  }
  try {
    const enrollment = await call('beginEnrollment', { token })
    nameOrganization(enrollment.organization)
    showRegistration(token, enrollment, await suggestedName(enrollment.first_name), ends)
  } catch (error) {
    if (error instanceof Refused) showOver()
    else showUnreachable(() => void enroll(token, ends))
  }
}
