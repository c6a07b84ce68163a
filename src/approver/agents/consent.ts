import { call, type Consent, type Session } from '../calls/api.ts'
import { button, h } from '../shell/element.ts'
import { problemLine, show, showNotice } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'
import { assert } from '../calls/webauthn.ts'

/** The addresses to which the service sends the browser; anything else would run in this page. */
const isAddress = (text: string): boolean => /^(?!javascript:|data:|blob:)[a-z][a-z0-9.+-]*:\/\//i.test(text)

const goTo = (address: string, title: string): void => {
  if (!isAddress(address)) throw new Error('The address of the client is not valid')
  showNotice({
    drawing: 'check',
    tone: 'good',
    title,
    lines: ['Go back to the client. You can close this page.'],
    actions: [h('a', { class: 'button plain', href: address }, 'Back to the client')],
  })
  location.assign(address)
}

const whoAsks = ({ client_name, client_host }: Consent): HTMLElement =>
  h(
    'p',
    {},
    'A client that says it is ',
    h('strong', {}, exactText(client_name)),
    client_host === null ? '. No one has checked this name.' : ', published at ',
    client_host !== null && h('strong', {}, exactText(client_host)),
    client_host !== null && '.',
  )

/** Who wants access, to what, and where the answer goes. This device signs a consent. */
const showRequest = (session: Session, request: string, consent: Consent): void => {
  const problem = problemLine()
  const name = h('input', { id: 'agent-name', maxlength: 60, autocomplete: 'off' })
  name.value = consent.name

  const allow = (): Promise<void> =>
    problem.attempt(async () => {
      const named = { request, name: name.value }
      const { challenge } = await call('beginConsent', named)
      const response = await assert(session.rp_id, challenge, session.credential_id)
      const { redirect_to } = await call('giveConsent', { ...named, challenge, response })
      goTo(redirect_to, 'Access given')
    })
  const deny = (): Promise<void> =>
    problem.attempt(async () => {
      goTo((await call('refuseConsent', { request })).redirect_to, 'Access denied')
    })

  show(
    'Connect an agent',
    h('h1', {}, 'Let this agent ask for approvals?'),
    whoAsks(consent),
    h(
      'ul',
      { class: 'terms' },
      h(
        'li',
        {},
        'It can ask you and other members of ',
        h('strong', {}, exactText(consent.organization)),
        ' to approve actions, in your name.',
      ),
      h('li', {}, 'It can’t approve anything, and it can’t read or change anything else.'),
      h('li', {}, `It stays connected for ${consent.days} days, or until you disconnect it.`),
      h('li', {}, 'Your answer goes to ', h('strong', {}, exactText(consent.redirect_host)), '.'),
    ),
    h('p', { class: 'aside' }, 'If you didn’t just connect a client yourself, deny this.'),
    h('div', { class: 'field' }, h('label', { for: 'agent-name' }, 'Name of the agent'), name),
    problem.element,
    h('div', { class: 'actions' }, button('Allow', 'primary', allow), button('Deny', 'plain', deny)),
  )
}

/** Opens the request for access that a client sent the person here with. */
export const openConsent = async (session: Session, request: string, toInbox: () => void): Promise<void> => {
  showNotice({ drawing: 'clock', title: 'Connect an agent', lines: ['One moment…'] })
  try {
    showRequest(session, request, await call('readConsent', { request }))
  } catch {
    showNotice({
      drawing: 'clock',
      title: 'This request has ended',
      lines: ['Connect again in the client.'],
      actions: [button('All requests', 'primary', toInbox)],
    })
  }
}
