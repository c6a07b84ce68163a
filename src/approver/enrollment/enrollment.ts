import { call, Refused, type Enrollment } from '../calls/api.ts'
import { button, h, picture } from '../shell/element.ts'
import { nameOrganization, problemLine, setBusy, show, showNotice } from '../shell/frame.ts'
import { showPendingDevice } from './pending-device.ts'
import { CheckFailed, missingPart, register, type Answer } from '../calls/webauthn.ts'

const newLink = 'Ask your administrator for a new link. It works once, for one phone.'

const showOver = (): void => {
  showNotice({
    drawing: 'clock',
    title: 'This link has expired or was already used',
    lines: [newLink],
  })
}

const showUnreachable = (again: () => void): void => {
  showNotice({
    drawing: 'cross',
    title: 'No connection',
    lines: ['Can’t reach the service. Your link still works.'],
    actions: [button('Try again', 'primary', again)],
  })
}

type Hints = { getHighEntropyValues: (names: string[]) => Promise<{ model?: string }> }

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android device'],
  [/Macintosh/, 'Mac'],
  [/Windows/, 'Windows computer'],
  [/CrOS/, 'Chromebook'],
  [/Linux/, 'Linux computer'],
]

/** A name for this device, such as "Pixel 9 of Ada". Never longer than the service accepts. */
const suggestedName = async (firstName: string): Promise<string> => {
  const hints = (navigator as { userAgentData?: Hints }).userAgentData
  const model = (await hints?.getHighEntropyValues(['model']).catch(() => undefined))?.model
  const name = model || (systems.find(([sign]) => sign.test(navigator.userAgent))?.[1] ?? 'Phone')
  return (firstName ? `${name} of ${firstName}` : name).slice(0, 60)
}

type Ends = { done: (org_id: number) => void; signIn: () => void }

const showRegistration = (token: string, enrollment: Enrollment, name: string, ends: Ends): void => {
  const problem = problemLine()
  const field = h('input', { id: 'name', value: name, maxlength: 60, autocomplete: 'off', required: true })
  // A new key is kept until the service has it, so that the phone does not create another one.
  let made: Answer | undefined

  const signInInstead = (): void => {
    showNotice({
      drawing: 'phone',
      title: 'Already registered',
      lines: ['This phone is already registered, so you don’t need a link.'],
      actions: [button('Open your requests', 'primary', ends.signIn)],
    })
  }
  const explain = (error: unknown): void => {
    if (error instanceof CheckFailed && error.registered) signInInstead()
    else if (error instanceof Refused && error.status === 410) showOver()
    else if (error instanceof CheckFailed || error instanceof Refused) problem.say(error.message)
    else problem.say('No answer yet. Tap again to finish; this phone keeps its key.')
    if (error instanceof Refused) made = undefined
  }
  const submit = async (): Promise<void> => {
    problem.say('')
    const called = field.value.trim()
    if (!called) {
      problem.say('Enter a name for this phone so you can recognize it later.')
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
  const hello = enrollment.first_name ? `Hello ${enrollment.first_name}` : 'Hello'
  show(
    'Register this phone',
    h(
      'div',
      { class: 'notice' },
      picture('phone', 'good'),
      h('h1', {}, hello),
      h('p', {}, h('strong', {}, enrollment.organization), ' asks you to approve things with this phone.'),
      h('p', {}, 'Your face, fingerprint or PIN stays on this phone. No one else can see it.'),
    ),
    h('div', { class: 'field' }, h('label', { for: 'name' }, 'Name of this phone'), field),
    problem.element,
    h('div', { class: 'actions' }, button('Register this phone', 'primary', submit)),
  )
}

/** Registers a phone with the token of a link. Only a successful registration uses up the token. */
export const enroll = async (token: string, ends: Ends): Promise<void> => {
  const missing = await missingPart()
  if (missing !== undefined) {
    showNotice({ drawing: 'phone', title: 'This browser can’t be used', lines: [missing] })
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
