import type { Outcome, Session } from '../calls/api.ts'
import { readOutcome } from '../calls/outcome.ts'
import type { Ways } from '../enrollment/entry.ts'
import { anotherOrganization, signedOutCards } from '../enrollment/reentry.ts'
import { button, div, h } from '../shell/element.ts'
import { nameOrganization, problemLine, type View } from '../shell/frame.ts'
import { notice, type Notice, showNotice, words } from '../shell/notice.ts'
import { unmute } from '../mutes/unmute.ts'
import { followOthers } from './others.ts'
import { othersText, waitingLines } from './people.ts'
import { createNext, type Queue } from './queue.ts'
import { muted as muting } from './steps.ts'
import { signed } from '../shell/signed.ts'
import { exactLine, exactNames, exactText } from '../shell/text.ts'
import { momentText } from '../language/time.ts'
import { nodes, t } from '../language/text.ts'

type Refusal = Outcome['refused'][number]

/** The place or slot that was expected, if the organization and the user do not both have rules. */
const placeOf = ({ expected }: Refusal): string | undefined => {
  const levels = Object.values((expected ?? {}) as object).flat() as ({ name?: unknown } | null)[]
  const [one, other] = levels
  return other === undefined && typeof one?.name === 'string' ? one.name : undefined
}

const named = (name: string): Node => h('strong', {}, exactText(name))

/** Why a rule refused, in words for the approver; the numbers are in the record of the requester. */
const refusalText = (refused: Refusal): string | Node => {
  const { factor, observed } = refused
  const isKnown = Object.values((observed ?? {}) as object).some((one) => one !== null)
  if (factor === 'location' && !isKnown) return t('request.locationMissing')
  const place = placeOf(refused)
  if (factor === 'location')
    return place === undefined
      ? t('request.wasOutsidePlaces')
      : nodes('request.wasOutsidePlace', { place: named(place) })
  if (factor === 'time')
    return place === undefined
      ? t('request.wasOutsideHours')
      : nodes('request.wasOutsideNamedHours', { hours: named(place) })
  if (factor === 'ip') return t('request.wasOutsideNetwork')
  if (factor === 'device') return t('request.untrustedDevice')
  return exactText(refused.reason)
}

const decisionOf = (status: string): 'approved' | 'other' => (status === 'approved' ? 'approved' : 'other')

/** A yes that waits for others, or what another person who was asked answered. */
const withOthers = ({ status, by = [], answer, note, progress }: Outcome): Notice => {
  const said = answer === undefined ? [] : [nodes('request.youDecided', { decision: decisionOf(answer) })]
  if (status === 'pending') return notice('clock', t('request.waitingOthers'), ...waitingLines(progress))
  const wrote = note !== undefined && nodes('history.note', { note: exactText(note) })
  if (status === 'approved') return notice('good', t('request.approved'), othersText(status, by), ...said)
  return notice('bad', t('request.denied'), othersText(status, by), wrote, ...said)
}

const byPerson = ({ status, device, note, ended_at }: Outcome, own: string): Notice => {
  const here = device === null || device.id === own
  const said = { decision: decisionOf(status), when: momentText(ended_at!) }
  const decided = here
    ? nodes('request.youDecidedAt', said)
    : nodes('request.youDecidedAtOn', { ...said, device: exactText(device.name) })
  if (status === 'approved')
    return notice('good', t(here ? 'request.approved' : 'request.approvedElsewhere'), decided)
  return notice(
    'bad',
    t(here ? 'request.denied' : 'request.deniedElsewhere'),
    decided,
    note !== undefined && nodes('request.yourNote', { note: exactText(note) }),
  )
}

const over = (line: string | Node, title = t('request.ended')): Notice => notice('clock', title, line)

/** Nobody was asked, because somebody allowed it earlier. */
const byGrant = ({ status, grant }: Outcome): Notice =>
  notice(
    status === 'approved' ? 'good' : 'clock',
    t('history.grant'),
    grant !== undefined && t('request.grantUse', { use: grant.use, uses: grant.uses }),
    status !== 'approved' && t('request.grantEnded'),
  )

/** How a request ended, in words for the device `own`. */
export const wordsFor = (outcome: Outcome, own: string): Notice => {
  const { ended_by, ended_at, refused, detail, by, status } = outcome
  if (status === 'pending' || (ended_by === 'person' && by !== undefined)) return withOthers(outcome)
  if (ended_by === 'person') return byPerson(outcome, own)
  if (ended_by === 'grant') return byGrant(outcome)
  if (ended_by === 'factors' && by !== undefined)
    return notice(
      'bad',
      t('request.notApproved'),
      nodes('history.factorsBy', { name: exactNames(by, 'conjunction') }),
      t('request.canAskAgain'),
    )
  if (ended_by === 'factors') {
    const why = refused.length > 0 ? refused.map(refusalText) : [t('request.refusedByFactors')]
    return notice('bad', t('request.notApproved'), ...why, t('request.canAskAgain'))
  }
  if (ended_by === 'number') return notice('bad', t('request.denied'), t('request.wrongTwice'))
  if (ended_by === 'key') return over(t('request.endedKey'))
  if (ended_by === 'report') return over(t('request.endedReport'))
  const when = momentText(ended_at!)
  if (ended_by === 'time') return over(t('request.expiredAt', { when }), t('request.expired'))
  if (ended_by === 'requester') return over(t('request.withdrawnAt', { when }), t('request.withdrawn'))
  return over(nodes('request.endedOther', { detail: exactText(detail ?? '') }))
}

/** The service does not know the request, or keeps it from this person. */
export const showMissing = (back: () => void): HTMLElement =>
  showNotice(
    words('request.missing', 'request.missingWhy', 'clock'),
    button(t('common.allRequests'), 'primary', back),
  )

/** After "This wasn't me": what it did, and the way to undo it. */
const muteNote = (mute_id: string, session: Session): { line: HTMLElement; undo: HTMLElement } => {
  const line = h('span', { role: 'status', 'aria-live': 'off', tabindex: -1 }, t('request.reported', muting))
  const problem = problemLine()
  const lift = button(t('mutes.undo'), 'quiet', () =>
    problem.attempt(async () => {
      await unmute({ mute_id }, session)
      line.textContent = t('mutes.unmuted')
      undo.remove()
      line.focus({ preventScroll: true })
    }),
  )
  const undo = div('step', problem.element, lift)
  return { line, undo }
}

/** "This wasn't me", once the request is denied, which is urgent while this is not. Then, the way to undo it. */
const reportLater = (request_id: string, session: Session, next: HTMLElement): HTMLElement => {
  const problem = problemLine()
  const send = (): Promise<void> =>
    problem.attempt(async () => {
      const { mute_id } = await signed('reportRequest', session, { request_id })
      const { line, undo } = muteNote(mute_id, session)
      place.replaceChildren(div('outcome', line), undo)
      line.focus({ preventScroll: true })
    })
  const open = (): void => {
    const title = h('h2', { tabindex: -1 }, t('request.notExpected'))
    place.replaceChildren(
      title,
      h('p', {}, t('request.reportNow', muting)),
      problem.element,
      button(t('request.report'), 'danger', send),
    )
    // Whoever meant to report must not go on without it.
    next.before(place)
    title.focus({ preventScroll: true })
    place.scrollIntoView({ block: 'nearest' })
  }
  const place = div('step', button(t('request.notMe'), 'quiet', open))
  return place
}

type Showing = {
  session: Session
  queue: Queue
  /** The id of the mute that came with the decision. */
  muted?: string | undefined
  /** What was allowed with it. */
  allowed?: string | undefined
}

/** How a request ended, as the service recorded it, and the way on. Returns what follows the requests that arrive. */
export const showOutcome = (outcome: Outcome, showing: Showing): (() => void) => {
  const { session, queue, muted, allowed } = showing
  const { lines = [], ...look } = wordsFor(outcome, session.device_id)
  const quote = h('span', 'quote asked', exactLine(outcome.headline))
  const note = muted !== undefined && muteNote(muted, session)
  const { request_id, status, ended_by, by, reported } = outcome
  const next = createNext(queue, [request_id])
  const isOwn = ended_by === 'number' || ended_by === 'person'
  const canReport = status === 'denied' && isOwn && by === undefined && !reported
  const below = note ? note.undo : canReport && reportLater(request_id, session, next.element)
  const said = [...lines, allowed !== undefined && allowed, note && note.line]
  const screen = showNotice({ ...look, lines: [quote, ...said] }, next.element, below)
  let { refresh } = next
  if (status === 'pending')
    void followOthers(screen, outcome, { session, show: (now) => (refresh = showOutcome(now, showing)) })
  return () => refresh()
}

type Surroundings = {
  sessions: readonly Session[]
  /** Reads the lists again. */
  refresh: () => void
  /** Shows the request once it is in a list. */
  again: () => void
  queue: Queue
  /** To organizations that the phone is not signed in to. */
  reentry: Ways
}

/** A request that is in no list: it has ended, or its notification arrived before the list. */
export const showGone = (
  wanted: string,
  { sessions, refresh, again, queue, reentry }: Surroundings,
): View => {
  const { back } = queue
  let follow: (() => void) | undefined
  let left = false
  const wait = (line: string): void =>
    void showNotice(
      notice('clock', t('request.loading'), line),
      button(t('common.allRequests'), 'primary', back),
    )
  const look = async (): Promise<void> => {
    for (const one of sessions) {
      const outcome = await readOutcome(wanted, one, {
        over: () => left,
        failed: () => wait(t('request.loadingOffline')),
      })
      if (left) return
      if (outcome?.status === 'pending') return refresh()
      if (!outcome) continue
      nameOrganization(one)
      follow = showOutcome(outcome, { session: one, queue })
      return
    }
    showMissing(back).append(...signedOutCards(sessions, reentry), anotherOrganization(sessions, reentry))
  }
  wait(t('common.moment'))
  void look()
  return {
    update: (requests) => {
      if (requests.some(({ request_id }) => request_id === wanted)) again()
      else follow?.()
    },
    announces: () => follow !== undefined,
    leave: () => (left = true),
  }
}
