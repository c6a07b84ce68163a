import type { DecisionDetail, Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { momentText } from '../language/time.ts'
import { button, h, labelled, pair, put, textField } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import type { Screen } from '../shell/reading.ts'
import { signed, unless } from '../shell/signed.ts'
import { exactText } from '../shell/text.ts'
import { noteText } from './history.ts'

type Review = NonNullable<NonNullable<DecisionDetail['break_glass']>['review']>
type Said = { ok: true } | { dispute: true; note: string }

/** What a person said of an emergency afterwards. */
const reviewLine = ({ by, at, verdict, note }: Review): HTMLElement => {
  const said = { name: exactText(by), when: momentText(at) }
  const line = nodes(verdict === 'ok' ? 'history.reviewedOk' : 'history.reviewedDisputed', said)
  return h('p', verdict === 'ok' ? '' : 'problem', line, ...(note === undefined ? [] : [' ', noteText(note)]))
}

/** Asks a person whom nobody asked whether it was an emergency; this device signs the answer. A dispute needs a reason. */
const reviewForm = ({ request_id }: DecisionDetail, session: Session, screen: Screen): HTMLElement => {
  const problem = problemLine()
  const part = h('section', 'content')
  const say = (said: Said): Promise<void> =>
    screen.act(problem, async () => {
      let isTaken = false
      await signed('signReview', session, { request_id, ...said }).catch((error: unknown) => {
        unless('already_reviewed')(error)
        isTaken = true
      })
      part.classList.remove('editing')
      screen.tell(t(isTaken ? 'history.reviewTaken' : 'history.reviewKept'))
    })
  const title = h('h2', { tabindex: -1 }, t('history.review'))
  const ask = (): void => {
    part.classList.remove('editing')
    put(
      part,
      title,
      h('p', 'aside', t('history.reviewWhy')),
      problem.element,
      pair(
        t('history.review'),
        button(t('history.reviewOk'), 'primary', () => say({ ok: true })),
        button(t('history.reviewDispute'), 'danger', dispute),
      ),
    )
  }
  const dispute = (): void => {
    problem.say('')
    part.classList.add('editing')
    const field = textField('review-note', '', { maxlength: 500 })
    put(
      part,
      h('h2', {}, t('history.disputeTitle')),
      h('p', 'aside', t('history.disputeWhy')),
      labelled(t('history.disputeNote'), field),
      problem.element,
      pair(
        t('history.disputeTitle'),
        button(t('history.disputeNow'), 'danger', () => {
          const note = field.value.trim()
          if (note) return say({ dispute: true, note })
          problem.say(t('history.disputeMissing'))
          field.focus()
        }),
        button(t('common.cancel'), 'plain', () => {
          ask()
          title.focus({ preventScroll: true })
        }),
      ),
    )
    field.focus()
  }
  ask()
  return part
}

/** Of an emergency: what was said of it, or the question for whoever can answer it. */
export const reviewPart = (
  decision: DecisionDetail,
  session: Session,
  screen: Screen,
): HTMLElement | false => {
  const review = decision.break_glass?.review
  if (review) return reviewLine(review)
  return decision.can_review === true && reviewForm(decision, session, screen)
}
