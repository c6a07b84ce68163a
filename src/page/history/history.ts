import { type Answered, call, type Decisions, type Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { othersText } from '../request/people.ts'
import { button, div, h, put, ul } from '../shell/element.ts'
import { problemLine, type View } from '../shell/frame.ts'
import { showReading } from '../shell/reading.ts'
import { exactLine, exactNames, exactText, nameOf, type Person } from '../shell/text.ts'
import { momentText } from '../language/time.ts'
import { grantList } from './grants.ts'
import { historyTitle } from './title.ts'

type Decision = Decisions['decisions'][number]

const endings = {
  factors: 'history.factors',
  number: 'history.number',
  requester: 'history.requester',
  time: 'history.time',
  key: 'history.key',
  report: 'history.report',
  service: 'history.service',
  grant: 'history.grant',
} as const

/** What became of a request, in a few words. `asked`: the member it was sent to, if an administrator reads it. */
export const endText = (
  { status, ended_by, device, by, answer }: Decision,
  asked?: Person,
): string | Node => {
  if (ended_by === 'person') {
    if (by !== undefined && (status === 'denied' || answer === undefined)) return othersText(status, by)
    const decision = status === 'approved' ? 'approved' : 'other'
    return device === null
      ? t('history.decided', { decision })
      : t('history.decidedOn', { decision, device: device.name })
  }
  if (ended_by === 'factors' && by !== undefined)
    return nodes('history.factorsBy', { name: exactNames(by, 'conjunction') })
  if (ended_by === 'report' && asked !== undefined)
    return nodes('history.reportBy', { name: exactText(nameOf(asked)) })
  return t(ended_by === null ? 'history.pending' : endings[ended_by])
}

export const noteText = (note: string): Node => nodes('history.note', { note: exactText(note) })

/** A request in a list; opens its details. `isNamed`: with the member who was asked. */
const decisionRow = (decision: Decision & { member?: Person }, isNamed: boolean): HTMLElement => {
  const { request_id, headline, requested_at, note, reported, member, status } = decision
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'card', href: `#${member ? 'activity' : 'decision'}=${encodeURIComponent(request_id)}` },
      isNamed && member !== undefined && h('span', 'who', exactText(nameOf(member))),
      h('span', 'asked', exactLine(headline)),
      h('span', `end ${status}`, endText(decision, member)),
      reported === true && h('span', 'who', t('history.reported')),
      note !== undefined && h('span', 'who', noteText(note)),
      h('span', 'who', t('history.asked', { when: momentText(requested_at) })),
    ),
  )
}

type Page = Decisions | Answered<'listDecisions'>

/** A list of decided requests. Older pages are read on demand. */
export const decisionList = (
  first: Page,
  read: (before: string) => Promise<Page>,
  isNamed = true,
): (Node | false)[] => {
  const list = ul('cards')
  const problem = problemLine()
  const more = div('actions')
  const add = ({ decisions, next }: Page): void => {
    list.append(...decisions.map((one) => decisionRow(one, isNamed)))
    const readOn = (before: string): Promise<void> =>
      problem.attempt(async () => {
        const last = list.lastElementChild
        add(await read(before))
        // The button is gone; whoever tapped it goes on with what it brought.
        last?.nextElementSibling?.querySelector('a')?.focus({ preventScroll: true })
        // The list goes on; a new drawing would begin again.
        list.classList.add('editing')
      })
    put(more, next !== null && button(t('history.older'), 'plain', () => readOn(next)))
  }
  add(first)
  return [list, problem.element, more]
}

/** What this person was asked and what became of it, newest first. */
export const showHistory = (session: Session, sessions: readonly Session[]): View => {
  const org = session.org_id
  const read = (before?: string) => call('listOwnDecisions', { before }, { org })
  return showReading({
    title: historyTitle(session, sessions),
    read: () => read(),
    draw: (page, screen) => [
      grantList(page.grants, session, screen),
      page.grants.length > 0 && page.decisions.length > 0 && h('h2', {}, t('members.decisions')),
      ...(page.decisions.length === 0 ? [h('p', 'aside', t('history.none'))] : decisionList(page, read)),
    ],
  })
}

/** For administrators: what everybody in the organization was asked. */
export const showActivity = ({ org_id: org }: Session): View => {
  const read = (before?: string) => call('listDecisions', { before }, { org })
  return showReading({
    title: t('history.activity'),
    back: { href: '#members', text: t('members.title') },
    read: () => read(),
    draw: (page) =>
      page.decisions.length === 0
        ? [h('p', 'aside', t('history.noneOfAnybody'))]
        : [h('p', 'aside', t('history.filter')), ...decisionList(page, read)],
  })
}
