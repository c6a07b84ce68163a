import type { Decisions } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { h } from '../shell/element.ts'
import { exactLine, exactText, nameOf, type Person } from '../shell/text.ts'
import { momentText } from '../language/time.ts'

export type Decision = Decisions['decisions'][number]

/** What became of a request, in a few words. `asked`: the member it was sent to, if an administrator reads it. */
export const endText = ({ status, ended_by, device, by }: Decision, asked?: Person): string | Node => {
  if (ended_by === 'person') {
    if (by !== undefined && status === 'denied') return nodes('request.deniedBy', { name: exactText(by) })
    const decision = status === 'approved' ? 'approved' : 'other'
    return device === null
      ? t('history.decided', { decision })
      : t('history.decidedOn', { decision, device: device.name })
  }
  if (ended_by === 'report' && asked !== undefined)
    return nodes('history.reportBy', { name: exactText(nameOf(asked)) })
  return t(`history.${ended_by ?? 'pending'}`)
}

export const noteText = (note: string): Node => nodes('history.note', { note: exactText(note) })

/** A request in a list; opens its details. `isNamed`: with the member who was asked. */
export const decisionRow = (decision: Decision & { member?: Person }, isNamed: boolean): HTMLElement => {
  const { request_id, headline, requested_at, note, reported, member, status } = decision
  return h(
    'li',
    {},
    h(
      'a',
      {
        class: 'card',
        href: `#${member === undefined ? 'decision' : 'activity'}=${encodeURIComponent(request_id)}`,
      },
      isNamed && member !== undefined && h('span', 'who', exactText(nameOf(member))),
      h('span', 'asked', exactLine(headline)),
      h('span', `end ${status}`, endText(decision, member)),
      reported === true && h('span', 'who', t('history.reported')),
      note !== undefined && h('span', 'who', noteText(note)),
      h('span', 'who', t('history.asked', { when: momentText(requested_at) })),
    ),
  )
}
