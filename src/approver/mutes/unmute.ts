import { call, type Session } from '../calls/api.ts'
import { assert } from '../calls/webauthn.ts'

/** Lets a muted requester ask again, after the device has checked its owner. */
export const unmute = async (
  mute_id: string,
  { rp_id, credential_id, org_id: org }: Session,
): Promise<void> => {
  const { challenge } = await call('beginUnmute', { mute_id }, { org })
  const response = await assert(rp_id, challenge, credential_id)
  await call('unmute', { mute_id, challenge, response }, { org })
}
