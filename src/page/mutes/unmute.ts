import { callHeld } from '../shell/held.ts'
import { call, Refused, type Session } from '../calls/api.ts'
import { assert } from '../calls/webauthn.ts'

type Target = { mute_id: string; user_id?: string }

/** Lets a muted requester ask again, after the device has checked its owner. `user_id`: the member who muted it. */
export const unmute = async (
  target: Target,
  { rp_id, credential_id, org_id: org }: Session,
): Promise<void> => {
  const { challenge } = await call('beginUnmute', target, { org })
  const response = await assert(rp_id, challenge, credential_id)
  await callHeld('unmute', { ...target, challenge, response }, { org }).catch((error: unknown) => {
    // It has ended: by its time, or by an earlier tap whose answer was lost.
    if (!(error instanceof Refused && error.status === 404)) throw error
  })
}
