import { call, Refused, type Consent, type Session } from '../calls/api.ts'
import { clearToken } from '../shell/address.ts'
import { button, h } from '../shell/element.ts'
import { problemLine, show, showNotice } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'
import { assert } from '../calls/webauthn.ts'
import { nodes, t } from '../language/text.ts'

/** The addresses to which the service sends the browser; anything else would run in this page. */
const isAddress = (text: string): boolean => /^(?!javascript:|data:|blob:)[a-z][a-z0-9.+-]*:\/\//i.test(text)

const goTo = (address: string, title: string): void => {
  if (!isAddress(address)) throw new Error('The address of the client is not valid')
  clearToken()
  showNotice({
    drawing: 'check',
    tone: 'good',
    title,
    lines: [t('agents.goBack')],
    actions: [h('a', { class: 'button plain', href: address }, t('agents.backToClient'))],
  })
  location.assign(address)
}

const strong = (text: string): HTMLElement => h('strong', {}, exactText(text))

const whoAsks = ({ client_name, client_host }: Consent): Node =>
  client_host === null
    ? nodes('agents.client', { name: strong(client_name) })
    : nodes('agents.clientAt', { name: strong(client_name), host: strong(client_host) })

/** Who wants access, to what, and where the answer goes. This device signs a consent. */
const showRequest = (session: Session, request: string, consent: Consent): void => {
  const problem = problemLine()
  const name = h('input', { id: 'agent-name', dir: 'auto', maxlength: 60, autocomplete: 'off' })
  name.value = consent.name

  const allow = (): Promise<void> =>
    problem.attempt(async () => {
      const named = { request, name: name.value }
      const { challenge } = await call('beginConsent', named)
      const response = await assert(session.rp_id, challenge, session.credential_id)
      const { redirect_to } = await call('giveConsent', { ...named, challenge, response })
      goTo(redirect_to, t('agents.given'))
    })
  const deny = (): Promise<void> =>
    problem.attempt(async () => {
      goTo((await call('refuseConsent', { request })).redirect_to, t('agents.denied'))
    })

  show(
    t('agents.connect'),
    h('h1', {}, t('agents.question')),
    h('p', {}, whoAsks(consent)),
    h(
      'ul',
      { class: 'terms' },
      h('li', {}, nodes('agents.canAsk', { organization: strong(consent.organization) })),
      h('li', {}, t('agents.canNot')),
      h('li', {}, t('agents.lasts', { days: consent.days })),
      h('li', {}, nodes('agents.answerGoesTo', { host: strong(consent.redirect_host) })),
    ),
    h('p', { class: 'aside' }, t('agents.notYou')),
    h('div', { class: 'field' }, h('label', { for: 'agent-name' }, t('agents.name')), name),
    problem.element,
    h(
      'div',
      { class: 'actions' },
      button(t('agents.allow'), 'primary', allow),
      button(t('common.deny'), 'danger', deny),
    ),
  )
}

/** Opens the request for access that a client sent the person here with. */
export const openConsent = async (session: Session, request: string, toInbox: () => void): Promise<void> => {
  showNotice({ drawing: 'clock', title: t('agents.connect'), lines: [t('common.moment')] })
  try {
    showRequest(session, request, await call('readConsent', { request }))
  } catch (error) {
    if (!(error instanceof Refused))
      return void showNotice({
        drawing: 'cross',
        title: t('common.noConnection'),
        lines: [t('enrollment.linkStillWorks')],
        actions: [button(t('common.tryAgain'), 'primary', () => openConsent(session, request, toInbox))],
      })
    clearToken()
    showNotice({
      drawing: 'clock',
      title: t('agents.ended'),
      lines: [t('agents.endedWhy')],
      actions: [button(t('common.allRequests'), 'primary', toInbox)],
    })
  }
}
