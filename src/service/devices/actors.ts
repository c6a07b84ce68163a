import { conflict } from '../../core/refusal.ts'
import type { SignedIn } from '../call/caller.ts'
import type { Call } from '../call/call.ts'
import { within, type Within } from '../keys/ancestry.ts'
import type { Member } from '../call/tenant.ts'
import { follow, mostStepsOfActor, type Origin, type Source } from './origin.ts'

// Who may add somebody or something at the page: a person whose origin is known.

type Deps = Pick<Call, 'db' | 'keyring'>

const followActor = async (deps: Within, source: Source): Promise<Origin> => {
  const origin = await follow(deps, source, { steps: mostStepsOfActor })
  if (origin.isWhole) return origin
  throw conflict(
    'origin_unknown',
    'Which key your device or your role comes from is not known, or only over too many others, so you cannot add anyone or anything',
    'Ask the operator: svc user enroll; and for an administrator: svc user update --role member, then svc user make-admin',
  )
}

/** Refuses a person at the page whose origin is unknown, or so long that what they add would be unknown. */
export const checkActor = async (deps: Deps, person: SignedIn, forUser: number): Promise<void> => {
  const { org_id, user_id, device_id } = person
  await followActor(
    within(deps, org_id),
    user_id === forUser ? { device: device_id } : { administrator: { org_id, user_id, device_id } },
  )
}

/**
 * Refuses an administrator at the page, as `checkActor` does, and one whose own role goes back to the member whom they
 * appoint: each of both would be the other's origin, and the key behind them would be forgotten.
 */
export const checkAppointer = async (deps: Deps, person: SignedIn, member: Member): Promise<void> => {
  const { org_id, user_id, device_id } = person
  const { roles } = await followActor(within(deps, org_id), { administrator: { org_id, user_id, device_id } })
  if (!roles.some((one) => one.org_id === member.org_id && one.user_id === member.user_id)) return
  throw conflict(
    'origin_unknown',
    'You are an administrator because of this person, so you cannot make them one',
    'Ask another administrator, or the operator: svc user make-admin',
  )
}
