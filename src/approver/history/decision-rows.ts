import type { Decisions } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { h } from '../shell/element.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { momentText } from '../shell/time.ts'

export type Decision = Decisions['decisions'][number]

/** What became of a request, in a few words. */
export const endText = ({ status, ended_by, device }: Decision): string => {
  if (ended_by === 'person') {
    const decision = status === 'approved' ? 'approved' : 'other'
    return device === null
      ? t('history.decided', { decision })
      : t('history.decidedOn', { decision, device: device.name })
  }
  return t(`history.${ended_by ?? 'pending'}`)
}

type Member = { first_name: string; last_name: string; mobile: string }

/** A request in a list; opens its details. `isNamed`: with the member who was asked. */
export const decisionRow = (decision: Decision & { member?: Member }, isNamed: boolean): HTMLElement => {
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
      isNamed && member !== undefined && h('span', { class: 'who' }, exactText(nameOf(member))),
      h('span', { class: 'asked' }, exactText(headline)),
      h('span', { class: `end ${status}` }, endText(decision)),
      reported === true && h('span', { class: 'who' }, t('history.reported')),
      note !== undefined && h('span', { class: 'who' }, exactText(note)),
      h('span', { class: 'who' }, t('history.asked', { when: momentText(requested_at) })),
    ),
  )
}
