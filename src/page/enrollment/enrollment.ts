import { call, Refused, Unreachable, type Enrollment } from '../calls/api.ts'
import { CheckFailed, forget, keysHere, register, type Answer, type Place } from '../calls/webauthn.ts'
import { locale, nodes, t } from '../language/text.ts'
import { clearToken } from '../shell/address.ts'
import { isComputer } from '../shell/browser.ts'
import { languageChoice } from '../shell/choice.ts'
import { button, details, div, h, labelled, picture, textField } from '../shell/element.ts'
import { nameOrganization, problemLine, sentenceFor, show } from '../shell/frame.ts'
import { notice, type Notice, showNotice, words } from '../shell/notice.ts'
import { exactText } from '../shell/text.ts'
import { nameOfKey, suggestedName } from './device-name.ts'
import { showPendingDevice } from './entry.ts'
import { createCode, showWayOut } from './hand-over.ts'

type Ends = {
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

const reasons: Record<string, () => Notice> = {
  used: () => words('enrollment.linkUsed', 'enrollment.linkUsedWhy', 'phone'),
  unknown: () => words('enrollment.linkUnknown', 'enrollment.linkUnknownWhy', 'cross'),
  damaged: () => words('enrollment.linkDamaged', 'enrollment.linkDamagedWhy', 'cross'),
  expired: () => words('enrollment.linkExpired', 'enrollment.newLink', 'clock'),
  on_hold: () => words('enrollment.onHold', 'enrollment.linkOnHold', 'clock'),
}

/** Why a link cannot be used, and what to do. Its owner may have registered with it already. */
const showLinkOver = (reason: unknown, signIn: () => void): void =>
  void showNotice(
    reasons[String(reason)]?.() ?? words('enrollment.linkOver', 'enrollment.newLink', 'clock'),
    button(t('enrollment.signIn'), reason === 'used' ? 'primary' : 'quiet', signIn),
  )

/** What the organization accepts, in words; undefined if it accepts everything. */
const acceptedKinds = ({ authenticators: allowed }: Enrollment): string | undefined => {
  if (allowed.length === 3) return undefined
  const kinds = allowed.map((kind) => t('enrollment.kinds', { kind }))
  return new Intl.ListFormat(locale(), { type: 'disjunction' }).format(kinds)
}

/** Why the organization does not accept a key, in the words of the page; undefined for any other refusal. */
const refusedKeyText = ({ code }: Refused, enrollment: Enrollment): string | undefined => {
  const { organization } = enrollment
  if (code === 'authenticator_not_allowed')
    return t('enrollment.refusedKind', { organization, kinds: acceptedKinds(enrollment) ?? '' })
  if (code === 'key_can_be_copied') return t('enrollment.refusedCopied', { organization })
  if (code === 'model_not_allowed' || code === 'attestation_required')
    return t('enrollment.refusedModel', { organization })
  return undefined
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

  const create = async (place: Place): Promise<Answer> =>
    // Read again: another tab may have used the link, and its key would be overwritten by a second one for the same person.
    register(await call('beginEnrollment', { token }), place)
  const explain = (error: unknown): void => {
    if (error instanceof Unreachable)
      return problem.say(t(link.made ? 'enrollment.noAnswer' : 'enrollment.linkStillWorks'))
    if (error instanceof CheckFailed && error.registered) {
      clearToken()
      const open = button(t('enrollment.openRequests'), 'primary', ends.signIn)
      return void showNotice(
        words('enrollment.alreadyRegistered', 'enrollment.alreadyRegisteredWhy', 'phone'),
        open,
      )
    }
    if (!(error instanceof Refused) || error.status === 429) return problem.say(sentenceFor(error))
    const refusedKey = refusedKeyText(error, enrollment)
    if (link.made && refusedKey !== undefined) forget(enrollment.rp_id, link.made)
    link.made = undefined
    if (error.status === 410) showLinkOver(error.data['reason'], ends.signIn)
    else problem.say(refusedKey ?? sentenceFor(error))
  }
  const submit = async (place: Place): Promise<void> => {
    const typed = field.value.trim()
    problem.say(typed ? '' : t('enrollment.nameMissing'))
    if (!typed) return field.focus()
    await problem.attempt(async () => {
      const made = (link.made ??= await create(place))
      const name = nameOfKey(typed, { suggested, enrollment, place, made })
      const device = await call('registerDevice', { token, name, response: made })
      clearToken()
      const done = (): void => ends.done(device.org_id, device.state !== 'active' || !device.repeated)
      if (device.state !== 'active')
        return showPendingDevice(device, made.id, {
          change: (next) => next(),
          done,
          back: ends.signIn,
          isIn: false,
        })
      done()
      return 'leaves'
    }, explain)
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
    labelled(t('enrollment.nameLabel'), field),
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

const retryMs = 2000
/** One at a time, however often the person tries too. */
let retry: ReturnType<typeof setTimeout> | undefined

/** `failed`: the screen that says that there was no connection. It stays while the page tries again. */
const start = async (token: string, ends: Ends, failed?: HTMLElement): Promise<void> => {
  const isLeft = (): boolean => failed?.isConnected === false
  clearTimeout(retry)
  try {
    const enrollment = await call('beginEnrollment', { token })
    if (isLeft()) return
    nameOrganization(enrollment)
    const { onDevice } = await keysHere()
    if (!onDevice && !isComputer && !enrollment.authenticators.includes('security_key'))
      // A phone without a screen lock cannot check its owner.
      return void showNotice(
        words('enrollment.noCheckTitle', 'enrollment.noCheckPhone', 'phone'),
        button(t('common.tryAgain'), 'primary', () => start(token, ends)),
      )
    const suggested = await suggestedName(enrollment)
    showRegistration({ token, enrollment, onDevice, suggested, name: suggested }, ends)
  } catch (error) {
    if (isLeft()) return
    if (error instanceof Refused && error.status === 410)
      return showLinkOver(error.data['reason'], ends.signIn)
    const isRefused = error instanceof Refused
    const screen: HTMLElement =
      !isRefused && failed
        ? failed
        : showNotice(
            isRefused
              ? notice('cross', t('enrollment.register'), sentenceFor(error))
              : words('common.noConnection', 'enrollment.linkStillWorks', 'cross'),
            button(t('common.tryAgain'), 'primary', () => start(token, ends, screen)),
          )
    if (!isRefused) retry = setTimeout(() => screen.isConnected && void start(token, ends, screen), retryMs)
  }
}

/** Registers a device with the token of a link. Only a successful registration uses up the token. */
export const enroll = async (token: string, ends: Ends): Promise<void> => {
  if (token === 'damaged') return showLinkOver('damaged', ends.signIn)
  const goOn = (): void => void start(token, ends)
  if (!(await showWayOut(goOn))) goOn()
}
