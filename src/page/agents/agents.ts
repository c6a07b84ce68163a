import { type Answered, call, type Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { button, div, h, labelled, textField, ul } from '../shell/element.ts'
import { problemLine, sentenceFor, type View } from '../shell/frame.ts'
import { claimedLine } from '../shell/requester.ts'
import { showReading, type Screen } from '../shell/reading.ts'
import { unless } from '../shell/signed.ts'
import { exactText } from '../shell/text.ts'
import { dateText } from '../language/time.ts'

const usedText = (at: string | null): string =>
  at === null ? t('agents.notUsed') : t('agents.lastUsed', { date: dateText(at) })

const row = (
  { id: agent_id, name, client_name, last_used_at }: Answered<'listOwnAgents'>['agents'][number],
  { org_id: org }: Session,
  screen: Screen,
): HTMLElement => {
  const problem = problemLine()
  const disconnect = (): Promise<void> =>
    screen.act(problem, async () => {
      await call('revokeOwnAgent', { agent_id }, { org }).catch(unless('not_found'))
      screen.tell(nodes('agents.disconnected', { name: exactText(name) }))
    })
  return h(
    'li',
    'member',
    h('h2', {}, exactText(name)),
    h('p', {}, claimedLine(client_name)),
    h('p', 'who', usedText(last_used_at)),
    problem.element,
    button(t('agents.disconnect'), 'danger', disconnect, t('agents.disconnectName', { name })),
  )
}

/** The field for the code of a terminal without a browser. Its request opens as that of a link does. */
const codeField = ({ org_id: org }: Session): HTMLElement[] => {
  const problem = problemLine()
  const code = textField('terminal-code', '')
  const open = (): Promise<void> =>
    problem.attempt(
      async () => {
        const { request } = await call('openTerminalCode', { code: code.value }, { org })
        location.hash = `authorize=${request}`
      },
      (error) => problem.say(sentenceFor(error, { 404: 'agents.wrongCode' })),
    )
  return [labelled(t('agents.code'), code), problem.element, button(t('agents.useCode'), 'plain', open)]
}

/** The agents and terminals of this person. */
export const showAgents = (session: Session): View =>
  showReading({
    title: t('agents.title'),
    read: () => call('listOwnAgents', {}, { org: session.org_id }),
    draw: ({ agents }, screen) => [
      h('p', 'aside', t(agents.length > 0 ? 'agents.what' : 'agents.none')),
      ul('cards', ...agents.map((one) => row(one, session, screen))),
    ],
    below: () => div('content', ...codeField(session)),
  })
