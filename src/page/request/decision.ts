import { call, Refused, type Outcome, type Session } from '../calls/api.ts'
import { base64URLStringToBuffer, bufferToBase64URLString } from '@simplewebauthn/browser'
import { checksLocation } from './conditions.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { locate, locationState } from '../calls/location.ts'
import { noticeableMs } from '../shell/reading.ts'
import { headline } from '../shell/text.ts'
import { assert, challengeOf, CheckFailed } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'

export type Choice = {
  decision: 'approve' | 'deny'
  not_me?: true
  note?: string
  number?: string
  grant?: true
}

/**
 * The result of a tap. `again`: nothing was sent. `unsure`: only the service knows what became of the request. The answer was
 * lost, or it was a refusal, which may be that of a second copy: browsers repeat a call whose connection was reset.
 */
export type Result =
  | { kind: 'ended'; outcome: Outcome }
  | { kind: 'unsure'; refusal?: string }
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
  /** The phone looks for its location, which can take a while. */
  locating: () => void
  /** The phone checks its owner. */
  checking: () => void
  /** Asks what to do if the phone reports no location. `isRepeated`: it was asked to try again. */
  withoutPlace: (isRepeated: boolean) => Promise<'again' | 'send' | 'stop'>
}

const resultOf = (error: unknown, wasSent: boolean): Result => {
  if (error instanceof CheckFailed)
    return error.withdrawn ? { kind: 'cancelled' } : { kind: 'again', message: error.message }
  if (!(error instanceof Refused))
    return wasSent ? { kind: 'unsure' } : { kind: 'again', message: t('request.failed') }
  const { code, message } = error
  if (code === 'wrong_number') return { kind: 'wrong number' }
  if (code === 'device_revoked') return { kind: 'removed' }
  if (code === 'approver_not_active') return { kind: 'stopped', message }
  return { kind: 'unsure', refusal: message }
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
    take: async (): Promise<{ later: Promise<Place> } | undefined> => {
      state = await locationState()
      if (state === 'denied') return undefined
      // The phone cannot show two prompts at the same time.
      if (state === 'granted' && early) return { later: locate() }
      early = await locate()
      return early && { later: Promise.resolve(early) }
    },
  }
}

/** Looks for a location until there is one. `send`: the person sends the approval without. */
const find = async <T>(
  look: () => Promise<T | undefined>,
  { locating, withoutPlace }: Steps,
): Promise<T | 'send' | 'stop'> => {
  for (let isRepeated = false; ; isRepeated = true) {
    // Not at once, because most locations arrive sooner.
    const saying = setTimeout(locating, noticeableMs)
    const found = await look()
    clearTimeout(saying)
    if (found !== undefined) return found
    const answer = await withoutPlace(isRepeated)
    if (answer !== 'again') return answer
  }
}

/** A context with one member more: in canonical form (RFC 8785), as the service builds it. Base64url. */
const withMember = (context: string, member: object): string => {
  const signed = JSON.parse(new TextDecoder().decode(base64URLStringToBuffer(context))) as object
  // The objects inside are in order already.
  const members = Object.entries({ ...signed, ...member }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(members)))
  return bufferToBase64URLString(bytes.buffer)
}

/** Created when the request is opened, so that the device check starts immediately after the tap. */
export const createDecider = (request: PendingRequest, session: Session) => {
  const challenges = {
    approve: challengeOf(request.contexts.approve),
    deny: challengeOf(request.contexts.deny),
  }
  const locator = createLocator(checksLocation(request))

  const decide = async (choice: Choice, steps: Steps): Promise<Result> => {
    let wasSent = false
    try {
      const wanted = choice.decision === 'approve' && checksLocation(request)
      const place = wanted ? await find(locator.take, steps) : 'send'
      if (place === 'stop') return { kind: 'cancelled' }
      steps.checking()
      const { note: words } = choice
      const more = choice.grant ? { grant: request.grant } : words === undefined ? undefined : { note: words }
      const challenge =
        more === undefined
          ? await challenges[choice.decision]
          : await challengeOf(withMember(request.contexts[choice.decision], more))
      const presence =
        request.deny_check === 'presence' && choice.decision === 'deny' && choice.not_me !== true
      const response = await assert(session.rp_id, challenge, session.credential_id, { presence })
      let coming = place === 'send' ? undefined : place.later
      const look = (): Promise<Place> => {
        const next = coming ?? locate()
        coming = undefined
        return next
      }
      const found = coming ? await find(look, steps) : 'send'
      if (found === 'stop') return { kind: 'cancelled' }
      const location = found === 'send' ? undefined : found
      wasSent = true
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
      // It waits for others, and only the service knows for whom.
      if (status === 'pending') return { kind: 'unsure', refusal: '' }
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
      return resultOf(error, wasSent)
    }
  }
  return { decide, ready: locator.ready, locationBlocked: locator.isBlocked }
}
