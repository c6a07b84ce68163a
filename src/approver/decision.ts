import { call, Refused, type Session } from './api.ts'
import type { PendingRequest } from './feed.ts'
import { locate, locationGranted } from './location.ts'
import { withNote } from './note.ts'
import { assert, challengeOf, CheckFailed } from './webauthn.ts'

export type Choice = { decision: 'approve' | 'deny'; not_me?: true; note?: string; number?: string }

/** The outcome of a tap. `again`: the request may still be open; `unsure`: the answer may or may not have arrived. */
export type Outcome =
  | { kind: 'approved' | 'denied' | 'elsewhere' | 'expired' | 'removed' }
  | { kind: 'withdrawn' }
  | { kind: 'ruled out' | 'stopped'; message: string }
  | { kind: 'wrong number'; message: string }
  | { kind: 'again'; message: string; unsure?: true }

type Steps = {
  /** The device check is done; from now on the decision may count. */
  sending: () => void
  /** Asks whether to send without a location, if the phone reports none. */
  withoutPlace: () => Promise<boolean>
}

/** "Denied: refused by the rules: …", below a heading that already contains the first word. */
const reasonIn = (message: string): string => {
  const reason = message.replace(/^Denied: /, '')
  return reason.slice(0, 1).toUpperCase() + reason.slice(1)
}

const outcomeOf = (error: unknown): Outcome => {
  if (error instanceof CheckFailed)
    return error.withdrawn ? { kind: 'withdrawn' } : { kind: 'again', message: error.message }
  if (!(error instanceof Refused))
    return {
      kind: 'again',
      unsure: true,
      message: 'No answer yet. Stay here to see the result, or tap again.',
    }
  const { code, status, message } = error
  if (code === 'wrong_number')
    return {
      kind: 'wrong number',
      message: 'That number doesn’t match. You have one more try before the request is denied.',
    }
  if (code === 'denied') return { kind: 'ruled out', message: reasonIn(message) }
  if (code === 'device_revoked') return { kind: 'removed' }
  if (code === 'approver_not_active') return { kind: 'stopped', message }
  if (status === 410) return { kind: 'expired' }
  if (status === 409 || status === 404) return { kind: 'elsewhere' }
  return { kind: 'again', message }
}

/** Created when the request is opened, so that the device check starts immediately after the tap. */
export const createDecider = (request: PendingRequest, session: Session) => {
  const challenges = {
    approve: challengeOf(request.contexts.approve),
    deny: challengeOf(request.contexts.deny),
  }
  return async (choice: Choice, steps: Steps): Promise<Outcome> => {
    try {
      const wanted = choice.decision === 'approve' && session.wants_location
      const place = wanted ? locate() : undefined
      // The phone cannot show two prompts at the same time.
      if (place && !(await locationGranted())) await place
      const challenge =
        choice.note === undefined
          ? await challenges[choice.decision]
          : await challengeOf(withNote(request.contexts.deny, choice.note))
      const response = await assert(session.rp_id, challenge, session.credential_id)
      const location = await place
      if (wanted && !location && !(await steps.withoutPlace()))
        return { kind: 'again', message: 'Allow location for this page, then tap Approve again.' }
      steps.sending()
      await call('decideApproval', {
        request_id: request.request_id,
        ...choice,
        ...(location && { location }),
        response,
      })
      return { kind: choice.decision === 'approve' ? 'approved' : 'denied' }
    } catch (error) {
      return outcomeOf(error)
    }
  }
}
