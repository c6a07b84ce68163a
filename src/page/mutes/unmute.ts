import type { Session } from '../calls/api.ts'
import { signed, unless } from '../shell/signed.ts'

/** Lets a muted requester ask again, after the device has checked its owner. `user_id`: the member who muted it. */
export const unmute = async (
  target: { mute_id: string; user_id?: string },
  session: Session,
): Promise<unknown> =>
  // It may have ended by its time.
  signed('unmute', session, target).catch(unless('not_found'))
