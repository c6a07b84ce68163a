import { addMs } from '../../core/iso-time.ts'
import type { Wrapping } from '../call/keyring.ts'
import type { WrapContext } from '../storage/schema.ts'

// A stolen cookie must not read or change more than the own inbox. What else the page does requires that the device signed for its
// session in the last minutes. The proof is in the cookie, sealed for one session and one device, so it ends with either.

const lifetimeMs = 5 * 60_000

type Session = { token_hash: string; device_id: number }

const contextOf = ({ token_hash, device_id }: Session): WrapContext =>
  `session confirmation:${device_id} ${token_hash}`

/** The proof that the device signed for this session at `now`. */
export const sealConfirmation = ({ wrap }: Wrapping, session: Session, now: string): string =>
  wrap(addMs(now, lifetimeMs), contextOf(session))

/** Whether the proof was made for this session and holds at `now`. */
export const isConfirmed = (
  { unwrap }: Pick<Wrapping, 'unwrap'>,
  proof: string,
  session: Session,
  now: string,
): boolean => {
  try {
    return now < unwrap(proof, contextOf(session))
  } catch {
    return false
  }
}
