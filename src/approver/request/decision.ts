import { call, Refused, type Outcome, type Session } from '../calls/api.ts'
import { Unreachable } from '../calls/exchange.ts'
import { checksLocation } from './conditions.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { locate, locationState } from '../calls/location.ts'
import { withNote } from './note.ts'
import { headline } from '../shell/text.ts'
import { assert, challengeOf, CheckFailed } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'

export type Choice = { decision: 'approve' | 'deny'; not_me?: true; note?: string; number?: string }

/**
 * The result of a tap. `again`: nothing was decided. `ended`: the request has ended, and the service knows how. `unsure`: the
 * answer was lost, so the decision may have been made.
 */
export type Result =
  | { kind: 'ended'; outcome?: Outcome }
  | { kind: 'unsure' }
  | { kind: 'cancelled' }
  | { kind: 'removed' }
  | { kind: 'stopped'; message: string }
  | { kind: 'wrong number' }
  | { kind: 'again'; message: string }

type Steps = {
  /** The device check is done; from now on the decision may count. */
  sending: () => void
  /** The answer is overdue. */
  slow: () => void
  /** Asks whether to send without a location, if the phone reports none. */
  withoutPlace: () => Promise<boolean>
}

const resultOf = (error: unknown): Result => {
  if (error instanceof CheckFailed)
    return error.withdrawn ? { kind: 'cancelled' } : { kind: 'again', message: error.message }
  if (error instanceof Unreachable) return { kind: 'unsure' }
  if (!(error instanceof Refused)) return { kind: 'again', message: t('request.failed') }
  const { code, status, message } = error
  if (code === 'wrong_number') return { kind: 'wrong number' }
  if (code === 'device_revoked') return { kind: 'removed' }
  if (code === 'approver_not_active') return { kind: 'stopped', message: message }
  if (code === 'denied' || status === 410 || status === 409 || status === 404) return { kind: 'ended' }
  return { kind: 'again', message: message }
}

type Place = Awaited<ReturnType<typeof locate>>

/** The location for an approval. If the phone will report none, that is known before the device check. */
const createLocator = (wanted: boolean) => {
  let state: PermissionState = wanted ? 'prompt' : 'denied'
  let early: Place
  const ready = (async () => {
    if (!wanted) return
    state = await locationState()
    if (state === 'granted') early = await locate()
  })()
  return {
    /** Once the page knows whether the phone reports its location. */
    ready,
    isBlocked: (): boolean => wanted && state === 'denied',
    /** Undefined if there is none; a promise of it while the device check runs, if it is likely to come. */
    take: async (): Promise<{ later?: Promise<Place> } | undefined> => {
      state = await locationState()
      if (state === 'denied') return undefined
      // The phone cannot show two prompts at the same time.
      if (state === 'granted' && early) return { later: locate() }
      early = await locate()
      return early && { later: Promise.resolve(early) }
    },
  }
}

/** Created when the request is opened, so that the device check starts immediately after the tap. */
export const createDecider = (request: PendingRequest, session: Session) => {
  const challenges = {
    approve: challengeOf(request.contexts.approve),
    deny: challengeOf(request.contexts.deny),
  }
  const locator = createLocator(checksLocation(request))

  const decide = async (choice: Choice, steps: Steps): Promise<Result> => {
    try {
      const wanted = choice.decision === 'approve' && checksLocation(request)
      const place = wanted ? await locator.take() : undefined
      const without = wanted && !place
      if (without && !(await steps.withoutPlace()))
        return { kind: 'again', message: t('request.allowLocation') }
      const challenge =
        choice.note === undefined
          ? await challenges[choice.decision]
          : await challengeOf(withNote(request.contexts.deny, choice.note))
      const presence =
        request.deny_check === 'presence' && choice.decision === 'deny' && choice.not_me !== true
      const response = await assert(session.rp_id, challenge, session.credential_id, { presence })
      const location = await place?.later
      if (wanted && !without && !location && !(await steps.withoutPlace()))
        return { kind: 'again', message: t('request.allowLocation') }
      steps.sending()
      const { request_id } = request
      const { status, decided_at, note, detail } = await call(
        'decideApproval',
        {
          request_id,
          ...choice,
          ...(location && { location }),
          response,
        },
        { slow: steps.slow },
      )
      return {
        kind: 'ended',
        outcome: {
          request_id,
          headline: headline(request),
          status,
          ended_by: 'person',
          ended_at: decided_at,
          device: null,
          refused: [],
          ...(note !== undefined && { note }),
          detail,
        },
      }
    } catch (error) {
      return resultOf(error)
    }
  }
  return { decide, ready: locator.ready, locationBlocked: locator.isBlocked }
}
