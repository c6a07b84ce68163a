import { call, Refused, type Enrollment } from '../calls/api.ts'
import { Unreachable } from '../calls/exchange.ts'
import { CheckFailed, forget, keysHere, register, type Answer, type Place } from '../calls/webauthn.ts'
import { languageChoice } from '../shell/language-choice.ts'
import { nodes, t } from '../language/text.ts'
import { clearToken } from '../shell/address.ts'
import { isComputer } from '../shell/browser.ts'
import { button, details, div, h, picture, textField } from '../shell/element.ts'
import {
  nameOrganization,
  problemLine,
  sentenceFor,
  setBusy,
  show,
  showNotice,
  words,
} from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'
import { nameOfKey, suggestedName } from './device-name.ts'
import { createEntry } from './entry.ts'
import { createCode } from './hand-over.ts'
import { reasonOf, showLinkOver } from './link-over.ts'
import { showPendingDevice } from './pending-device.ts'
import { acceptedKinds, refusedKeyText } from './refused-key.ts'
import { showWayOut } from './way-out.ts'

export type Ends = {
  /** The device is active. `hasSession` is false if the answer that opened the session was lost. */
  done: (org_id: number, hasSession: boolean) => void
  signIn: () => void
}

type Link = {
  token: string
  enrollment: Enrollment
  onDevice: boolean
  suggested: string
  /** What the field says. */
  name: string
  /** A new key is kept until the service has it, so that no second one is created. */
  made?: Answer | undefined
}

const showAlreadyRegistered = (signIn: () => void): void => {
  clearToken()
  showNotice({
    drawing: 'phone',
    ...words('enrollment.alreadyRegistered'),
    actions: [button(t('enrollment.openRequests'), 'primary', signIn)],
  })
}

/** What a key on something else than this device can be on. */
const elsewhereText = (allowed: Enrollment['authenticators']): string => {
  if (!allowed.includes('security_key')) return t('enrollment.registerPhone')
  return allowed.length === 1 ? t('enrollment.registerKey') : t('enrollment.registerElsewhere')
}

const showRegistration = (link: Link, ends: Ends): void => {
  const { token, enrollment, onDevice, suggested } = link
  const { first_name: firstName, organization, authenticators: allowed } = enrollment
  const problem = problemLine()
  const field = textField('name', link.name, { required: true })

  const create = async (place: Place): Promise<Answer> => {
    // Another tab may have used the link: its key would be overwritten by a second one for the same person.
    const now = await call('beginEnrollment', { token })
    return register(now, place)
  }
  const explain = (error: unknown): void => {
    if (error instanceof Unreachable)
      return problem.say(t(link.made ? 'enrollment.noAnswer' : 'enrollment.linkStillWorks'))
    if (error instanceof CheckFailed && error.registered) return showAlreadyRegistered(ends.signIn)
    if (!(error instanceof Refused)) return problem.say(sentenceFor(error))
    if (error.status === 429) return problem.say(sentenceFor(error))
    const refusedKey = refusedKeyText(error, enrollment)
    if (link.made && refusedKey !== undefined) forget(enrollment.rp_id, link.made)
    link.made = undefined
    if (error.status === 410) showLinkOver(reasonOf(error), ends.signIn)
    else problem.say(refusedKey ?? sentenceFor(error))
  }
  const submit = async (place: Place): Promise<void> => {
    problem.say('')
    const typed = field.value.trim()
    if (!typed) {
      problem.say(t('enrollment.nameMissing'))
      field.focus()
      return
    }
    setBusy(true)
    try {
      const made = (link.made ??= await create(place))
      const name = nameOfKey(typed, { suggested, enrollment, place, made })
      const device = await call('registerDevice', { token, name, response: made })
      clearToken()
      const done = (): void => ends.done(device.org_id, !device.repeated)
      if (device.state === 'active') done()
      else {
        const entered = (): void => ends.done(device.org_id, true)
        const ways = { change: (next: () => void) => next(), done: entered, back: ends.signIn, isIn: false }
        showPendingDevice(device, { prove: createEntry(ways, made.id), done: entered })
      }
    } catch (error) {
      setBusy(false)
      explain(error)
    }
  }

  /** In another language; the name stays if the person has typed one. */
  const again = async (): Promise<void> => {
    const next = await suggestedName(enrollment)
    const name = field.value === suggested ? next : field.value
    showRegistration(Object.assign(link, { suggested: next, name }), ends)
  }
  const isHere = onDevice && (allowed.includes('platform') || allowed.includes('synced'))
  const kinds = acceptedKinds(enrollment)
  const hello = firstName ? t('enrollment.helloName', { name: firstName }) : t('enrollment.hello')
  const missing = isComputer ? t('enrollment.noCheckComputer') : t('enrollment.noCheckPhone')
  const elsewhere = button(elsewhereText(allowed), isHere ? 'plain' : 'primary', () => submit('elsewhere'))
  const code = isComputer && createCode()
  const other = div('actions', elsewhere)
  show(
    t('enrollment.register'),
    div(
      'notice',
      picture('phone'),
      h('h1', {}, onDevice ? hello : t('enrollment.noCheckTitle')),
      onDevice &&
        h('p', {}, nodes('enrollment.asksYou', { organization: h('strong', {}, exactText(organization)) })),
      h('p', {}, onDevice ? t('enrollment.staysHere') : missing),
      kinds !== undefined && h('p', {}, t('enrollment.onlyAllowed', { organization, kinds })),
    ),
    !isHere && code,
    div('field', h('label', { for: 'name' }, t('enrollment.nameLabel')), field),
    problem.element,
    isHere &&
      div(
        'actions',
        button(t('enrollment.register'), 'primary', () => submit('here')),
      ),
    isHere ? details(t('enrollment.otherDevice'), div('content', code, other)) : other,
    div('foot', languageChoice(again)),
  )
}

/** A phone without a screen lock cannot check its owner. */
const showNoLock = (again: () => void): void =>
  void showNotice({
    drawing: 'phone',
    title: t('enrollment.noCheckTitle'),
    lines: [t('enrollment.noCheckPhone')],
    actions: [button(t('common.tryAgain'), 'primary', again)],
  })

const retryMs = 2000

/** `failed`: the screen that says that there was no connection. It stays while the page tries again. */
const start = async (token: string, ends: Ends, failed?: HTMLElement): Promise<void> => {
  const isLeft = (): boolean => failed?.isConnected === false
  try {
    const enrollment = await call('beginEnrollment', { token })
    if (isLeft()) return
    nameOrganization(enrollment)
    const { onDevice } = await keysHere()
    if (!onDevice && !isComputer && !enrollment.authenticators.includes('security_key'))
      return showNoLock(() => void start(token, ends))
    const suggested = await suggestedName(enrollment)
    showRegistration({ token, enrollment, onDevice, suggested, name: suggested }, ends)
  } catch (error) {
    if (isLeft()) return
    if (error instanceof Refused && error.status === 410) return showLinkOver(reasonOf(error), ends.signIn)
    const isRefused = error instanceof Refused
    const screen: HTMLElement =
      !isRefused && failed
        ? failed
        : showNotice({
            drawing: 'cross',
            title: isRefused ? t('enrollment.register') : t('common.noConnection'),
            lines: [isRefused ? sentenceFor(error) : t('enrollment.linkStillWorks')],
            actions: [button(t('common.tryAgain'), 'primary', () => start(token, ends, screen))],
          })
    if (!isRefused) setTimeout(() => screen.isConnected && void start(token, ends, screen), retryMs)
  }
}

/** Registers a device with the token of a link. Only a successful registration uses up the token. */
export const enroll = async (token: string, ends: Ends): Promise<void> => {
  if (token === 'damaged') return showLinkOver('damaged', ends.signIn)
  const goOn = (): void => void start(token, ends)
  if (!(await showWayOut(goOn))) goOn()
}
