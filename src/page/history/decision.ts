import type { View } from '../shell/frame.ts'
import { call, type DecisionDetail, type Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { endText, noteText } from './history.ts'
import { reviewPart } from './review.ts'
import { othersText, peopleLines } from '../request/people.ts'
import { breakGlassText, line, originLines, requestLines } from '../request/request-text.ts'
import { wordsFor } from '../request/result.ts'
import { button, div, h, link, picture } from '../shell/element.ts'
import { showReading } from '../shell/reading.ts'
import { requesterLines } from '../shell/requester.ts'
import { exactLine, exactText, headline, nameOf } from '../shell/text.ts'
import { dateText, momentText } from '../language/time.ts'

/** Saves a text as a file. */
const save = (text: string, name: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  h('a', { href: url, download: name }).click()
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const receiptPart = (decision: DecisionDetail): (Node | false)[] => {
  const { request_id, ended_by, receipt, receipt_digest, cleared_at } = decision
  if (receipt !== null)
    return [
      h('p', 'aside', t('history.receiptWhy')),
      button(t('history.receipt'), 'plain', () => save(receipt, `receipt-${request_id}.json`)),
    ]
  if (cleared_at === undefined) {
    const end = ended_by === 'factors' || ended_by === 'number' || ended_by === 'person' ? ended_by : 'other'
    return [h('p', 'aside', t('history.noReceipt', { end }))]
  }
  return [
    h('p', 'aside', t('history.cleared', { date: dateText(cleared_at) })),
    receipt_digest !== undefined &&
      h('p', 'aside', t('history.digest'), ' ', h('code', { class: 'exact', dir: 'ltr' }, receipt_digest)),
  ]
}

/** What became of a request, in a few words; with the person, for everybody else. */
const endingOf = (decision: DecisionDetail): string | Node => {
  const { own, by, ended_by, status, member } = decision
  return !own && ended_by === 'person' && by === undefined
    ? othersText(status, [nameOf(member)])
    : endText(decision, member)
}

/** Of an emergency, what whoever reviews it weighs. */
const emergencyPart = (decision: DecisionDetail): (Node | false)[] => {
  const { break_glass, status, used_at, origin, member, can_review } = decision
  if (!break_glass || status !== 'approved') return []
  const isSelf = origin.credential?.owner?.user_id === member.user_id
  const isOpen = !break_glass.review && can_review !== true
  return [
    isSelf && h('p', {}, nodes('history.askedSelf', { name: exactText(nameOf(member)) })),
    h('p', {}, used_at === null ? t('history.notUsed') : t('history.used', { when: momentText(used_at) })),
    isOpen && h('p', {}, t('history.notReviewed')),
  ]
}

/** A request as it was signed, what became of it, and its receipt. */
export const showDecision = (session: Session, request_id: string, list: 'history' | 'activity'): View => {
  const place = list === 'history' ? 'decision' : 'activity'
  return showReading({
    title: t('history.detail'),
    back: { href: `#${list}`, text: t(list === 'history' ? 'history.title' : 'history.activity') },
    read: () => call('getDecision', { request_id }, { org: session.org_id }),
    draw: (decision, screen) => {
      const { member, own, ended_at, ended_by, reported, note, grant } = decision
      const isKept = decision.cleared_at === undefined
      const people = peopleLines(decision.lines ?? [])
      const said = wordsFor(decision, session.device_id)
      const of = [ended_at !== null && dateText(ended_at), note !== undefined && noteText(note)]
      const { title, lines = [] } =
        own || ended_by === 'grant' ? said : { title: endingOf(decision), lines: of }
      return [
        div(
          'result',
          picture(said.drawing, said.tone),
          h(
            'div',
            {},
            h('h2', {}, title),
            ...lines.map((line) => line && h('p', {}, line)),
            reported === true && h('p', {}, t('history.reported')),
          ),
        ),
        h(
          'section',
          'paper',
          h('h2', 'action', exactLine(headline(decision))),
          decision.break_glass && breakGlassText(decision.break_glass),
          isKept && div('asker', ...requesterLines(decision.origin)),
          isKept &&
            h(
              'dl',
              {},
              ...requestLines(decision),
              people.length > 0 && line(t('request.approvers'), ...people),
              ...originLines(decision),
            ),
        ),
        ...emergencyPart(decision),
        reviewPart(decision, session, screen),
        grant !== undefined &&
          link(`#${place}=${encodeURIComponent(grant.request_id)}`, 'plain', t('history.granting')),
        // Otherwise the request names those who were asked, or the title whoever answered.
        !own &&
          ended_by !== 'person' &&
          people.length === 0 &&
          h('p', 'aside', nodes('history.approver', { name: exactText(nameOf(member)) })),
        ...receiptPart(decision),
      ]
    },
  })
}
