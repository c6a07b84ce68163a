import { type Answered, call, Refused, type Session } from '../calls/api.ts'
import { clearToken } from '../shell/address.ts'
import { button, type Child, div, h, labelled, link, textField } from '../shell/element.ts'
import { problemLine, sentenceFor, type View } from '../shell/frame.ts'
import { notice, showNotice, words } from '../shell/notice.ts'
import { showReading } from '../shell/reading.ts'
import { exactText, joined } from '../shell/text.ts'
import { signed } from '../shell/signed.ts'
import { nodes, t } from '../language/text.ts'
import { dateText } from '../language/time.ts'

/** The addresses to which the service sends the browser; anything else would run in this page. */
const isAddress = (text: string): boolean => /^(?!javascript:|data:|blob:)[a-z][a-z0-9.+-]*:\//i.test(text)

type Ways = { toInbox: () => void; again: () => void }
type Asked = { isTerminal: boolean; toInbox: () => void }

/** A terminal that waits elsewhere has no address: the person stays here, where its requests arrive. */
const goTo = (address: string, title: string, { isTerminal, toInbox }: Asked): void => {
  if (address !== '' && !isAddress(address)) throw new Error('The address of the client is not valid')
  clearToken()
  showNotice(
    notice('good', title, t(isTerminal ? 'agents.goToTerminal' : 'agents.goBack')),
    !isTerminal && link(address, 'plain', t('agents.backToClient')),
    address === '' && button(t('common.allRequests'), 'primary', toInbox),
  )
  if (address !== '') location.assign(address)
}

const strong = (text: string): HTMLElement => h('strong', {}, exactText(text))

/** Who wants access, to what, and where the answer goes. This device signs a consent. */
const draw = (
  session: Session,
  request: string,
  consent: Answered<'readConsent'>,
  { toInbox, again }: Ways,
): Child[] => {
  const problem = problemLine()
  const explain = (error: unknown): void =>
    error instanceof Refused && error.status === 401 ? again() : problem.say(sentenceFor(error))
  const { host, organization, scopes, lasts_s, redirect_host, address } = consent
  const isTerminal = host !== null
  const name = textField('agent-name', consent.name)

  const allow = (): Promise<void> =>
    problem.attempt(async () => {
      const named = { request, name: name.value, scopes }
      goTo(
        (await signed('giveConsent', session, named)).redirect_to,
        t(isTerminal ? 'agents.signedIn' : 'agents.given'),
        { isTerminal, toInbox },
      )
    }, explain)
  const deny = (): Promise<void> =>
    problem.attempt(async () => {
      goTo((await call('refuseConsent', { request })).redirect_to, t('agents.denied'), {
        isTerminal,
        toInbox,
      })
    }, explain)

  const more = scopes.filter((scope) => scope !== 'ask')
  const named = () => ({ organization: strong(organization) })
  const besides = (): string | Node => {
    if (more.length === 0) return t('agents.canNot')
    if (more.join() === 'read') return nodes('agents.canRead', named())
    const what = joined(
      more.map((scope) => t('agents.scope', { scope: scope === 'app' ? 'other' : scope })),
      'unit',
    )
    return nodes('agents.canManage', { ...named(), scopes: h('strong', {}, what) })
  }
  const days = Math.round(lasts_s / 86_400)
  const end = new Date(Date.now() + lasts_s * 1000).toISOString()
  return [
    isTerminal
      ? h('p', {}, nodes('agents.terminal', { host: strong(host) }))
      : h('p', {}, nodes('agents.client', { name: strong(consent.client_name) })),
    h(
      'ul',
      'terms',
      h('li', {}, nodes('agents.canAsk', named())),
      h('li', {}, besides()),
      h('li', {}, isTerminal ? t('agents.until', { date: dateText(end) }) : t('agents.lasts', { days })),
      redirect_host !== null && h('li', {}, nodes('agents.answerGoesTo', { host: strong(redirect_host) })),
    ),
    redirect_host === null
      ? h('p', 'warning', nodes('agents.elsewhere', { address: strong(address ?? '') }))
      : h('p', 'warning', t(isTerminal ? 'agents.notYouTerminal' : 'agents.notYou')),
    !isTerminal && labelled(t('agents.name'), name),
    problem.element,
    div('actions', button(t('agents.allow'), 'primary', allow), button(t('common.deny'), 'danger', deny)),
  ]
}

/** Opens the request for access that a client sent the person here with. `again`: once more, in a new session. */
export const openConsent = (session: Session, request: string, ways: Ways): View =>
  showReading({
    title: t('agents.question'),
    read: async () => {
      try {
        return await call('readConsent', { request })
      } catch (error) {
        const status = error instanceof Refused ? error.status : 429
        if (status === 401) ways.again()
        else if (status !== 429) {
          clearToken()
          showNotice(
            words('agents.ended', 'agents.endedWhy', 'clock'),
            button(t('common.allRequests'), 'primary', ways.toInbox),
          )
        }
        throw error
      }
    },
    draw: (consent) => draw(session, request, consent, ways),
  })
