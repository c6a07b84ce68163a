import type { Session } from './api.ts'
import { createDecider, type Choice, type Outcome } from './decision.ts'
import { button, h } from './element.ts'
import type { PendingRequest } from './feed.ts'
import { announce, problemLine, setBusy, show } from './frame.ts'
import { showResult, type Ending } from './result.ts'
import { noteStep, notMeStep, numberStep, withoutPlaceStep } from './steps.ts'
import { clockText, exactText, factorsInWords, headline, requesterText } from './text.ts'
import { countDown, msUntil } from './time.ts'
import type { View } from './view.ts'
import { withdraw } from './webauthn.ts'

const line = (label: string, ...value: (Node | string)[]): HTMLElement =>
  h('div', { class: 'line' }, h('dt', {}, label), h('dd', {}, ...value))

type Field = NonNullable<PendingRequest['subject']>['fields'][number]

const fieldLine = ({ label, value, before }: Field): HTMLElement =>
  before === undefined
    ? line(label, exactText(value))
    : line(label, h('del', {}, exactText(before)), ' ', h('ins', {}, exactText(value)))

/** The request: the headline and fields of the subject that will be signed, then the claims of the requester. */
const requestText = ({ action, subject, reason, factors, ...who }: PendingRequest): HTMLElement =>
  h(
    'section',
    { class: 'paper' },
    h('h1', { class: 'action' }, exactText(headline({ action, subject }))),
    h(
      'dl',
      {},
      ...(subject?.fields ?? []).map(fieldLine),
      action !== headline({ action, subject }) &&
        line('In the requester’s words (not verified)', exactText(action)),
      reason !== null && line('Reason', exactText(reason)),
      line('Requester', requesterText(who)),
      line('Checked', factorsInWords(factors)),
    ),
  )

/** The time left, as a number and as a bar. Calls `over` when it has run out. */
const timeLeft = (wholeMs: number, say: (text: string) => void, over: () => void) => {
  const number = h('span', { class: 'digits' })
  const bar = h('progress', { max: wholeMs, 'aria-hidden': 'true' })
  const element = h('div', { class: 'left' }, h('p', { role: 'timer' }, number, ' left to decide'), bar)
  let stop: (() => void) | undefined
  const tick = (ms: number): void => {
    number.textContent = clockText(ms)
    bar.value = ms
    element.classList.toggle('short', ms <= 30_000)
    if (ms === 0) over()
  }
  return {
    element,
    follow: (moment: number): void => {
      stop?.()
      stop = countDown(moment, tick, say)
    },
    stop: () => stop?.(),
  }
}

type Phase = 'reading' | 'checking' | 'sending' | 'over'

/** One request, until it is decided here or elsewhere, or expires. */
export const showRequest = (request: PendingRequest, session: Session, back: () => void): View => {
  const decide = createDecider(request, session)
  const problem = problemLine()
  const step = h('div', { class: 'steps' })
  let phase: Phase = 'reading'
  // An answer was sent; it may or may not have arrived.
  let unsure = false
  let { expiresAt } = request

  const left = timeLeft(
    Date.parse(request.expires_at) - Date.parse(request.requested_at),
    announce,
    () => phase !== 'sending' && end({ kind: 'expired' }),
  )
  const stop = (): void => {
    phase = 'over'
    left.stop()
    withdraw()
  }
  const end = (ending: Ending): void => {
    if (phase === 'over') return
    stop()
    showResult(ending, request, back)
  }
  const endElsewhere = (): void =>
    end({ kind: unsure ? 'unsure' : msUntil(expiresAt) < 1500 ? 'expired' : 'elsewhere' })

  const put = (element: HTMLElement): void => {
    step.replaceChildren(element)
    element.querySelector<HTMLElement>('input, textarea, button')?.focus({ preventScroll: true })
    element.scrollIntoView({ block: 'nearest' })
  }
  const settle = (choice: Choice, outcome: Outcome): void => {
    if (phase === 'over') return
    phase = 'reading'
    setBusy(false)
    if (outcome.kind === 'withdrawn') return
    if (outcome.kind === 'wrong number') return put(numbered(outcome.message))
    if (outcome.kind === 'again') {
      unsure ||= outcome.unsure === true
      problem.say(outcome.message)
      if (msUntil(expiresAt) === 0) endElsewhere()
      return
    }
    if (outcome.kind === 'denied' && choice.not_me) return end({ kind: 'muted' })
    if (outcome.kind === 'denied') return end({ kind: 'denied', note: choice.note })
    end(outcome)
  }
  const choose = async (choice: Choice): Promise<void> => {
    if (phase !== 'reading') return
    phase = 'checking'
    problem.say('')
    setBusy(true)
    const outcome = await decide(choice, {
      sending: () => {
        if (phase === 'checking') phase = 'sending'
      },
      withoutPlace: () =>
        new Promise((resolve) => {
          setBusy(false)
          const before = [...step.childNodes]
          put(
            withoutPlaceStep((send) => {
              step.replaceChildren(...before)
              setBusy(send)
              resolve(send)
            }),
          )
        }),
    })
    settle(choice, outcome)
  }
  const deny = (note?: string): Promise<void> =>
    choose({ decision: 'deny', ...(note !== undefined && { note }) })
  const toStart = (): void => put(start())
  const numbered = (wrong?: string): HTMLElement =>
    numberStep({
      wrong,
      approve: (number) => choose({ decision: 'approve', number }),
      back: toStart,
      deny: () => deny(),
    })
  const start = (): HTMLElement =>
    h(
      'div',
      { class: 'actions' },
      button('Approve', 'primary', () =>
        request.number_required ? put(numbered()) : choose({ decision: 'approve' }),
      ),
      button('Deny', 'plain', () => deny()),
      h(
        'div',
        { class: 'links' },
        button('Deny with a note', 'quiet', () => put(noteStep(deny, toStart))),
        button('This wasn’t me', 'quiet', () =>
          put(notMeStep(() => choose({ decision: 'deny', not_me: true }), toStart)),
        ),
      ),
    )

  step.append(start())
  show(
    'Request',
    h('a', { class: 'back', href: '#' }, 'All requests'),
    left.element,
    requestText(request),
    problem.element,
    step,
  )
  left.follow(expiresAt)

  return {
    update: (requests) => {
      const now = requests.find(({ request_id }) => request_id === request.request_id)
      if (!now) {
        if (phase !== 'sending') endElsewhere()
        return
      }
      // The timer of the phone stops while it sleeps, so the service may know better.
      if (phase !== 'over' && Math.abs(now.expiresAt - expiresAt) > 1500)
        left.follow((expiresAt = now.expiresAt))
    },
    leave: stop,
  }
}
