import { type Agents, call } from '../calls/api.ts'
import { button, h } from '../shell/element.ts'
import { problemLine, show, showOutcome } from '../shell/frame.ts'
import { openList } from '../shell/open-list.ts'
import { exactText } from '../shell/text.ts'
import { dateText } from '../shell/time.ts'
import { nodes, t } from '../language/text.ts'

const usedText = (at: string | null): string =>
  at === null ? t('agents.notUsed') : t('agents.lastUsed', { date: dateText(at) })

const showList = ({ agents }: Agents): void => {
  const problem = problemLine()
  const row = (agent: Agents['agents'][number]): HTMLElement => {
    const item = h('li', { class: 'member' })
    const disconnect = (): Promise<void> => {
      item.append(problem.element)
      return problem.attempt(async () => {
        await call('revokeOwnAgent', { agent_id: agent.id })
        showOutcome(item, nodes('agents.disconnected', { name: exactText(agent.name) }))
      })
    }
    item.append(
      h('h2', {}, exactText(agent.name)),
      h('p', { class: 'who' }, nodes('common.saysItIs', { name: exactText(agent.client_name) })),
      h('p', { class: 'who' }, usedText(agent.last_used_at)),
      button(t('agents.disconnect'), 'danger', disconnect, {
        'aria-label': t('agents.disconnectName', { name: agent.name }),
      }),
    )
    return item
  }
  show(
    t('agents.title'),
    h('a', { class: 'back', href: '#' }, t('common.allRequests')),
    h('h1', {}, t('agents.title')),
    h('p', { class: 'aside' }, t('agents.what')),
    agents.length > 0
      ? h('ul', { class: 'cards' }, ...agents.map(row))
      : h('p', { class: 'aside' }, t('agents.none')),
  )
}

/** The agents that this person connected. */
export const openAgents = (isHere: () => boolean): Promise<void> =>
  openList({
    drawing: 'phone',
    title: t('agents.title'),
    read: () => call('listOwnAgents', {}),
    isHere,
    show: showList,
  })
