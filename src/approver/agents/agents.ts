import { type Agents, call } from '../calls/api.ts'
import { button, h } from '../shell/element.ts'
import { problemLine, show, showNotice, showOutcome } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'

const usedText = (at: string | null): string =>
  at === null ? 'Not used yet' : `Last used ${new Date(at).toLocaleString()}`

const showList = ({ agents }: Agents): void => {
  const problem = problemLine()
  const row = (agent: Agents['agents'][number]): HTMLElement => {
    const item = h('li', { class: 'member' })
    const disconnect = (): Promise<void> => {
      item.append(problem.element)
      return problem.attempt(async () => {
        await call('revokeOwnAgent', { agent_id: agent.id })
        showOutcome(item, exactText(agent.name), ': Disconnected.')
      })
    }
    item.append(
      h('h3', {}, exactText(agent.name)),
      h('p', { class: 'who' }, 'says it is ', exactText(agent.client_name)),
      h('p', { class: 'who' }, usedText(agent.last_used_at)),
      button('Disconnect', 'plain', disconnect, { 'aria-label': `Disconnect ${agent.name}` }),
    )
    return item
  }
  show(
    'Agents',
    h('a', { class: 'back', href: '#' }, 'All requests'),
    h('h1', {}, 'Agents'),
    h(
      'p',
      { class: 'aside' },
      'These clients can ask for approvals in your name. Disconnect those you don’t use.',
    ),
    agents.length > 0
      ? h('ul', { class: 'cards' }, ...agents.map(row))
      : h('p', { class: 'aside' }, 'You haven’t connected an agent.'),
  )
}

/** The agents that this person connected. */
export const openAgents = async (isHere: () => boolean): Promise<void> => {
  showNotice({ drawing: 'phone', title: 'Agents', lines: ['One moment…'] })
  const found = await call('listOwnAgents', {}).catch(() => undefined)
  if (!isHere()) return
  if (found) showList(found)
  else
    showNotice({
      drawing: 'clock',
      title: 'Can’t reach the service',
      lines: ['Open this again when you’re online.'],
      actions: [h('a', { class: 'button primary', href: '#' }, 'All requests')],
    })
}
