import { randomInt } from 'node:crypto'
import { randomToken, sameSecret, sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { consume, consumeOrRefuse } from '../limits/rate-limit.ts'

// spec: not shown, all of it.
const lifetimeMs = 10 * 60_000
const sends = { kind: 'otp_send', atMost: 5, windowMs: 10 * 60_000 }
/** No code lives longer than the window, so each is tried five times at most, whatever is sent again meanwhile. */
const tries = { kind: 'otp_try', atMost: 5, windowMs: lifetimeMs }

/**
 * A mobile number (E.164) as an organization knows it; 0 is the service itself. A code is good for its `purpose` alone,
 * and tries count for each kind of purpose.
 */
type Whose = { org_id: number; mobile: string; purpose?: string }

const lapseOf = (now: string): string => addMs(now, lifetimeMs)

/** Under which a code is kept; a number of its own where it has no purpose. */
const keptAs = ({ mobile, purpose }: Whose): string =>
  purpose === undefined ? mobile : `${purpose} ${mobile}`

const placeOf = (whose: Whose) => `otp:${whose.org_id}:${keptAs(whose)}` as const

/** The tries of all codes of a kind together: a new device, or a new code, gives no new tries. */
const triedAs = ({ mobile, purpose }: Whose): string =>
  purpose === undefined ? mobile : `${purpose.split(':')[0]} ${mobile}`

type Wording = (otp: string, minutes: number) => string

const usualWording: Wording = (otp, minutes) =>
  `Your code is ${otp}. It is good for ${minutes} minutes. Tell it to nobody.`

/** A million codes are hashed in a second; so the hash is wrapped by the master key besides. */
const hashed = (salt: string, otp: string): string => sha256(`${salt} ${otp}`)

export type SentOtp = { message_id: string; expires_at: string; sends_left: number; next_send_at: string }

/**
 * Sends a code of six digits to a phone, in place of the last one. Fails with 429 after five in ten minutes, and with
 * 409 `delivery_not_configured`. The answer is the same whether anybody knows the number.
 */
export const sendOneTimeCode = async (
  call: Call,
  whose: Whose,
  wording: Wording = usualWording,
): Promise<SentOtp> => {
  const consumed = await consumeOrRefuse(
    call,
    sends,
    { org_id: whose.org_id, subject: whose.mobile },
    {
      code: 'too_many_sends',
      what: `${sends.atMost} codes were sent to this number in the last ${sends.windowMs / 60_000} minutes`,
    },
  )
  const otp = String(randomInt(1_000_000)).padStart(6, '0')
  const salt = randomToken(16)
  const code = {
    salt,
    wrapped_hash: call.keyring.wrap(hashed(salt, otp), placeOf(whose)),
    expires_at: lapseOf(call.now),
    used_at: null,
  }
  await call.db
    .insertInto('otps')
    .values({ org_id: whose.org_id, mobile: keptAs(whose), ...code })
    .onConflict((on) => on.columns(['org_id', 'mobile']).doUpdateSet(code))
    .execute()
  const message_id = await call.send({
    org_id: whose.org_id,
    channel: 'sms',
    kind: 'otp',
    to: whose.mobile,
    text: wording(otp, lifetimeMs / 60_000),
    expires_at: code.expires_at,
  })
  await call.audit(whose.org_id, `message:${message_id}`, ['otp'])
  return {
    message_id,
    expires_at: code.expires_at,
    sends_left: consumed.left,
    next_send_at: consumed.next_at,
  }
}

const wrong = (): Refusal =>
  new Refusal(403, 'otp_invalid', 'The code is wrong, was used or has lapsed, or too many were tried', {
    hint: 'Read it again, or have a new one sent: svc mobile send-otp',
  })

/**
 * Spends the code that a phone was sent. A Refusal is to be returned and not thrown, so that the try counts; it is one
 * and the same whatever is wrong.
 */
export const checkOtp = async (
  call: Call,
  { otp, ...whose }: Whose & { otp: string },
): Promise<Refusal | undefined> => {
  const { db, now } = call
  const live = await db
    .selectFrom('otps')
    .where('org_id', '=', whose.org_id)
    .where('mobile', '=', keptAs(whose))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    // A clock that was set back would let it outlive its tries.
    .where('expires_at', '<=', lapseOf(now))
    .select(['salt', 'wrapped_hash'])
    .executeTakeFirst()
  if (!live) return wrong()
  const { taken } = await consume(call, tries, { org_id: whose.org_id, subject: triedAs(whose) })
  if (!taken) return wrong()
  if (!sameSecret(call.keyring.unwrap(live.wrapped_hash, placeOf(whose)), hashed(live.salt, otp))) {
    await call.audit(whose.org_id, 'otp', ['try'])
    return wrong()
  }
  // One use: and only of the very code that was compared.
  const spent = await db
    .updateTable('otps')
    .set({ used_at: now })
    .where('org_id', '=', whose.org_id)
    .where('mobile', '=', keptAs(whose))
    .where('wrapped_hash', '=', live.wrapped_hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('org_id')
    .executeTakeFirst()
  return spent ? undefined : wrong()
}
