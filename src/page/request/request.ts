import type { Outcome, Pending } from '../calls/api.ts'
import { warningsFor } from './conditions.ts'
import { createDecider, type Choice, type Result } from './decision.ts'
import { createBar } from './bar.ts'
import { denyAllStep, ofSameRequester } from './deny-all.ts'
import { button, h } from '../shell/element.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { announce, nameOrganization, setBusy, show, tellNext, type View } from '../shell/frame.ts'
import { notice, showNotice } from '../shell/notice.ts'
import { readOutcome } from '../calls/outcome.ts'
import { noticeableMs } from '../shell/reading.ts'
import { requestText, rowList } from './request-text.ts'
import { showRemoved } from '../enrollment/removed.ts'
import { showMissing, showOutcome } from './result.ts'
import { createStates } from './states.ts'
import type { Queue } from './queue.ts'
import {
  allowStep,
  allowText,
  noteStep,
  notMeStep,
  numberStep,
  withoutPlaceStep,
  type WithoutPlace,
} from './steps.ts'
import { exactText } from '../shell/text.ts'
import { timeLeft } from './time-left.ts'
import { msUntil } from '../language/time.ts'
import { withdraw } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'

/** These devices check their owner with nothing else, unless it is a passcode. */
const hasFaceId = /\b(?:iPhone|iPad)\b/.test(navigator.userAgent)

/** One request, until it is decided here or elsewhere, or expires. */
export const showRequest = (
  request: PendingRequest,
  first: readonly PendingRequest[],
  queue: Queue,
): View => {
  const { session } = request
  const { back } = queue
  const decider = createDecider(request, session)
  let same = ofSameRequester(request, first)
  /** Follows the requests that arrive, once this one is over. */
  let follow: (() => void) | undefined
  const { is, on } = createStates()
  // "This wasn't me" was sent.
  let chosen: Choice | undefined
  let { expiresAt, number_missed: knowsMiss } = request
  const warn = (now: Pending): void => {
    const reasons = warningsFor(now, decider.locationBlocked())
    bar.warn(reasons.length > 0 ? t('request.wouldBeRefused', { reasons: reasons.join(' ') }) : '')
  }

  const left = timeLeft(
    Date.parse(request.expires_at) - Date.parse(request.requested_at),
    announce,
    () => !is('sending') && void look(),
  )
  const stop = (): void => {
    on('end')
    left.stop()
    bar.stop()
    withdraw()
  }
  const end = (outcome: Outcome): void => {
    if (is('over')) return
    stop()
    const { ended_by, status, device } = outcome
    const here = device === null || device.id === session.device_id
    const isMuted = chosen?.not_me && here && ended_by === 'person' && status === 'denied'
    const isAllowed = chosen?.grant && here && ended_by === 'person' && status === 'approved'
    follow = showOutcome(outcome, {
      session,
      queue,
      muted: isMuted ? request.origin.id : undefined,
      allowed: isAllowed ? allowText(request.grant!, 'request.allowedAgain') : undefined,
    })
  }
  /** Only the service knows how a request ended. Until it answers, nothing is said about it. */
  const look = async (refusal?: string): Promise<void> => {
    if (!on('look')) return
    const wasSent = is('unsure')
    withdraw()
    bar.complain('')
    setBusy(true)
    bar.say(t(wasSent && refusal === undefined ? 'request.noAnswer' : 'request.checkingResult'))
    const { request_id } = request
    const outcome = await readOutcome(request_id, session, {
      over: () => is('over'),
      failed: () => bar.say(t('request.resultOffline')),
    })
    if (is('over')) return
    // A yes that waits for others is over for this person.
    if (outcome && (outcome.status !== 'pending' || outcome.answer)) return end(outcome)
    on('pending')
    setBusy(false)
    bar.say('')
    if (!outcome) return void showMissing(back)
    // The answer that was lost said that the number is wrong.
    if (wasSent && outcome.number_missed && !knowsMiss) miss()
    else if (wasSent) bar.complain(refusal ?? t('request.notArrived'))
    // The clock of this phone is a little ahead.
    if (msUntil(expiresAt) === 0) setTimeout(() => void look(), 1000)
  }

  const settle = (result: Result): void => {
    if (result.kind === 'ended') return end(result.outcome)
    if (result.kind === 'unsure') return void look(result.refusal)
    if (!on('settle')) return
    setBusy(false)
    bar.say('')
    if (result.kind === 'cancelled') return
    if (result.kind === 'wrong number') return miss()
    if (result.kind === 'again') {
      bar.complain(result.message)
      if (msUntil(expiresAt) === 0) void look()
      return
    }
    stop()
    if (result.kind === 'removed') showRemoved(button(t('common.allRequests'), 'plain', back))
    // The approver is no longer an active member.
    else
      showNotice(
        notice('bad', t('request.notAccepted'), exactText(result.message)),
        button(t('common.done'), 'plain', back),
      )
  }
  const choose = async (choice: Choice): Promise<void> => {
    if (!on('choose')) return
    chosen = choice
    bar.complain('')
    setBusy(true)
    let denies = false
    const result = await decider.decide(choice, {
      sending: () => {
        on('send')
        bar.say(t('request.sending'))
      },
      locating: () => bar.say(t('request.locating')),
      checking: () => bar.say(t(hasFaceId ? 'request.waitingForFace' : 'request.waitingForDevice')),
      slow: () => is('sending') && bar.say(t('request.sendingSlow')),
      withoutPlace: (isRepeated) =>
        new Promise((resolve) => {
          setBusy(false)
          bar.say('')
          bar.complain(isRepeated ? t('request.allowLocation') : '')
          const before = bar.step.firstElementChild as HTMLElement
          const answer = (chosen: WithoutPlace): void => {
            denies = chosen === 'deny'
            bar.complain('')
            bar.put(before)
            setBusy(true)
            resolve(chosen === 'again' || chosen === 'send' ? chosen : 'stop')
          }
          bar.put(withoutPlaceStep(answer))
        }),
    })
    settle(result)
    if (denies) await deny()
  }
  const deny = (note?: string): Promise<void> =>
    choose({ decision: 'deny', ...(note !== undefined && { note }) })
  const numbered = (): HTMLElement =>
    numberStep({
      wrong: knowsMiss ? t('request.wrongNumber') : undefined,
      approve: (number) => choose({ decision: 'approve', number }),
      back: bar.toStart,
      deny: () => deny(),
    })
  const miss = (): void => {
    knowsMiss = true
    bar.put(numbered())
  }
  const text = requestText(request)
  const bar = createBar(text.signed, {
    approve: () => (request.number_required ? bar.put(numbered()) : choose({ decision: 'approve' })),
    deny: () => deny(),
    denyWithNote: () => bar.put(noteStep(deny, bar.toStart)),
    allow:
      request.grant &&
      (() => bar.put(allowStep(request, () => choose({ decision: 'approve', grant: true }), bar.toStart))),
    notMe: () => bar.put(notMeStep(() => choose({ decision: 'deny', not_me: true }), bar.toStart)),
    denyAll: () =>
      bar.put(
        denyAllStep({
          requests: same,
          session,
          queue,
          back: bar.toStart,
          over: (refresh) => {
            stop()
            follow = refresh
          },
        }),
      ),
  })
  bar.follow(same)
  show(
    t('request.title'),
    backLink(back),
    left.element,
    text.element,
    rowList(request),
    bar.element,
    bar.more,
  )
  bar.begin()
  left.follow(expiresAt)
  warn(request)
  void decider.ready.then(() => warn(request))

  return {
    update: (requests) => {
      if (is('over')) return follow?.()
      same = ofSameRequester(request, requests)
      bar.follow(same)
      const now = requests.find(({ request_id }) => request_id === request.request_id)
      if (!now) {
        // Its own answer may be on its way.
        setTimeout(() => void look(), is('sending') ? noticeableMs : 0)
        return
      }
      warn(now)
      nameOrganization(session)
      // The timer of the phone stops while it sleeps, so the service may know better.
      if (Math.abs(now.expiresAt - expiresAt) > 1500) left.follow((expiresAt = now.expiresAt))
    },
    announces: () => follow !== undefined,
    leave: () => {
      // The list would look as if all were done.
      if (is('sending', 'unsure')) tellNext(t('request.unknown'))
      stop()
    },
  }
}

/** Replaces the request in the history, so that Back does not lead to it again. */
const backLink = (back: () => void): HTMLElement => {
  const link = h('a', { class: 'back', href: '#' }, t('common.allRequests'))
  link.addEventListener('click', (event) => {
    event.preventDefault()
    back()
  })
  return link
}
