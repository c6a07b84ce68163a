import type { Outcome, Session } from '../calls/api.ts'
import { button, div, type Drawing, h } from '../shell/element.ts'
import { problemLine, showNotice, words, type Words } from '../shell/frame.ts'
import { unmute } from '../mutes/unmute.ts'
import { waitingLines } from './people.ts'
import { createNext, type Queue } from './queue.ts'
import { exactLine, exactText } from '../shell/text.ts'
import { momentText } from '../language/time.ts'
import { nodes, t } from '../language/text.ts'

type Look = Words & { drawing: Drawing; tone?: 'good' | 'bad' }

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

const decided = ({ status, device, ended_at }: Outcome, own: string): Node => {
  const decision = decisionOf(status)
  const when = ended_at === null ? undefined : momentText(ended_at)
  const on = device === null || device.id === own ? undefined : exactText(device.name)
  if (on === undefined)
    return when === undefined
      ? nodes('request.youDecided', { decision })
      : nodes('request.youDecidedAt', { decision, when })
  return when === undefined
    ? nodes('request.youDecidedOn', { decision, device: on })
    : nodes('request.youDecidedAtOn', { decision, when, device: on })
}

const over = (said: Words, line?: string): Look => ({
  drawing: 'clock',
  ...said,
  ...(line !== undefined && { lines: [line] }),
})

const refusedFor = (title: 'request.denied' | 'request.notApproved', lines: Look['lines']): Look => ({
  drawing: 'cross',
  tone: 'bad',
  title: t(title),
  lines,
})

/** A yes that waits for others, or what another person who was asked answered. */
const withOthers = ({ status, by, answer, lines = [] }: Outcome): Look => {
  const said = answer === undefined ? [] : [nodes('request.youDecided', { decision: decisionOf(answer) })]
  if (status === 'pending')
    return { drawing: 'clock', title: t('request.waitingOthers'), lines: waitingLines(lines) }
  if (status === 'approved')
    return { drawing: 'check', tone: 'good', title: t('request.approved'), lines: said }
  const denied = nodes('request.deniedBy', { name: exactText(by ?? '') })
  return { drawing: 'cross', tone: 'bad', title: t('request.denied'), lines: [denied, ...said] }
}

const byPerson = (outcome: Outcome, own: string): Look => {
  const { status, device, note } = outcome
  const here = device === null || device.id === own
  const lines: Look['lines'] = [decided(outcome, own)]
  if (status === 'approved')
    return {
      drawing: 'check',
      tone: 'good',
      title: t(here ? 'request.approved' : 'request.approvedElsewhere'),
      lines,
    }
  if (note !== undefined) lines.push(nodes('request.yourNote', { note: exactText(note) }))
  return {
    drawing: 'cross',
    tone: 'bad',
    title: t(here ? 'request.denied' : 'request.deniedElsewhere'),
    lines,
  }
}

/** How a request ended, in words for the device `own`. */
export const wordsFor = (outcome: Outcome, own: string): Look => {
  const { ended_by, ended_at, refused, detail, by, status } = outcome
  if (status === 'pending' || (ended_by === 'person' && by !== undefined)) return withOthers(outcome)
  const when = ended_at === null ? undefined : momentText(ended_at)
  if (ended_by === 'person') return byPerson(outcome, own)
  if (ended_by === 'factors')
    return refusedFor(
      'request.notApproved',
      refused.length > 0 ? refused.map(refusalText) : [t('request.refusedByFactors')],
    )
  if (ended_by === 'number') return refusedFor('request.denied', [t('request.wrongTwice')])
  const title = t('request.ended')
  if (ended_by === 'key') return over({ title, lines: [t('request.endedKey')] })
  if (ended_by === 'report') return over({ title, lines: [t('request.endedReport')] })
  if (ended_by === 'time') return over(words('request.expired'), when && t('request.expiredAt', { when }))
  if (ended_by === 'requester')
    return over(words('request.withdrawn'), when && t('request.withdrawnAt', { when }))
  return over({ title, lines: [nodes('request.endedOther', { detail: exactText(detail ?? '') })] })
}

/** The service does not know the request, or keeps it from this person. */
export const showMissing = (back: () => void): HTMLElement =>
  showNotice({
    drawing: 'clock',
    ...words('request.missing'),
    actions: [button(t('common.allRequests'), 'primary', back)],
  })

/** After "This wasn't me": what it did, and the way to undo it. */
const muteNote = (mute_id: string, session: Session): { line: HTMLElement; undo: HTMLElement } => {
  const line = h('span', { role: 'status', 'aria-live': 'off', tabindex: -1 }, t('request.reported'))
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

type Showing = {
  session: Session
  queue: Queue
  /** The id of the mute that came with the decision. */
  muted?: string | undefined
}

/** How a request ended, as the service recorded it, and the way on. Returns what follows the requests that arrive. */
export const showOutcome = (outcome: Outcome, { session, queue, muted }: Showing): (() => void) => {
  const { lines, title, ...look } = wordsFor(outcome, session.device_id)
  const quote = h('span', 'quote asked', exactLine(outcome.headline))
  const note = muted === undefined ? undefined : muteNote(muted, session)
  const next = createNext(queue, [outcome.request_id])
  showNotice({
    ...look,
    title,
    lines: [quote, ...lines, ...(note ? [note.line] : [])],
    actions: [next.element, ...(note ? [note.undo] : [])],
  })
  return next.refresh
}
