import { randomInt } from 'node:crypto'
import { randomToken, sameSecret, sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { createRecent } from '../../core/recent.ts'
import { forbidden, type Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { consume, consumeOrRefuse } from '../limits/rate-limit.ts'

// spec: not shown (lifetime, limits, length)
const lifetimeMs = 10 * 60_000
const sends = { kind: 'otp_send', atMost: 5, windowMs: 10 * 60_000 }
/** The window is as long as the lifetime of a code, so a code gets at most five attempts. */
const attempts = { kind: 'otp_try', atMost: 5, windowMs: lifetimeMs }

/**
 * A mobile number (E.164) as an organization knows it; 0 is the service itself. A code is valid for its `purpose` only,
 * and attempts count for each kind of purpose.
 */
type CodeOwner = { org_id: number; mobile: string; purpose?: string }

/** The key of a code in the store. */
const storageKey = ({ mobile, purpose }: CodeOwner): string =>
  purpose === undefined ? mobile : `${purpose} ${mobile}`

const wrapContext = (owner: CodeOwner) => `otps:${owner.org_id}:${storageKey(owner)}` as const

/** All codes of a kind share one count, so neither a new device nor a new code gives more attempts. */
const attemptSubject = ({ mobile, purpose }: CodeOwner): string =>
  purpose === undefined ? mobile : `${purpose.split(':')[0]} ${mobile}`

/** All possible codes can be hashed in a second, so the master key also wraps the hash. */
const hashCode = ({ salt, expires_at }: { salt: string; expires_at: string }, otp: string): string =>
  sha256(`${salt} ${expires_at} ${otp}`)

/** When this process compared a code, by its organization and subject: whoever writes to the store cannot take that back. */
const compared = createRecent<string, string[]>(10_000)

/** Counts an attempt besides the store. False if the limit is reached. */
const countHere = ({ keyring, now }: Call, org_id: number, subject: string): boolean => {
  const name = `${org_id} ${subject}`
  const times = (compared.get(keyring, name) ?? []).filter((at) => at > addMs(now, -attempts.windowMs))
  if (times.length >= attempts.atMost) return false
  compared.set(keyring, name, [...times, now])
  return true
}

export type SentOtp = { message_id: string; expires_at: string; sends_left: number; next_send_at: string }

/**
 * Sends a six-digit code to a phone; it replaces the last one. Throws 429 after five in ten minutes, and 409
 * `delivery_not_configured`. The response does not depend on whether the number is known.
 */
export const sendOneTimeCode = async (
  call: Call,
  owner: CodeOwner,
  wording = (otp: string, minutes: number): string =>
    `Your code is ${otp}. It expires in ${minutes} minutes. Don't share it.`,
): Promise<SentOtp> => {
  const { org_id, mobile } = owner
  const { left: sends_left, next_at: next_send_at } = await consumeOrRefuse(
    call,
    sends,
    { org_id, subject: attemptSubject(owner) },
    {
      code: 'too_many_sends',
      what: `${sends.atMost} codes were sent to this number in the last ${sends.windowMs / 60_000} minutes`,
    },
  )
  const otp = String(randomInt(1_000_000)).padStart(6, '0')
  const salt = randomToken(16)
  const expires_at = addMs(call.now, lifetimeMs)
  const code = {
    salt,
    wrapped_hash: call.keyring.wrap(hashCode({ salt, expires_at }, otp), wrapContext(owner)),
    expires_at,
    used_at: null,
  }
  await call.db
    .insertInto('otps')
    .values({ org_id, mobile: storageKey(owner), ...code })
    .onConflict((on) => on.columns(['org_id', 'mobile']).doUpdateSet(code))
    .execute()
  const text = wording(otp, lifetimeMs / 60_000)
  // A code with a purpose registers a device; any other is what an application asked for.
  const registers = owner.purpose !== undefined
  const message = { org_id, channel: 'sms', kind: 'otp', to: mobile, text, expires_at, registers } as const
  const message_id = await call.send(message)
  await call.audit(org_id, `message:${message_id}`, ['otp'])
  return { message_id, expires_at, sends_left, next_send_at }
}

const invalidOtp = (): Refusal =>
  forbidden(
    'otp_invalid',
    'The code is wrong, expired or already used, or there were too many attempts',
    'Check the code, or send a new one: svc mobile send-otp',
  )

/**
 * Uses up the code that was sent to a phone. A Refusal is returned and not thrown, so that the attempt counts. It is the
 * same whatever is wrong.
 */
export const checkOtp = async (
  call: Call,
  { otp, ...owner }: CodeOwner & { otp: string },
): Promise<Refusal | undefined> => {
  const { db, now } = call
  const { org_id } = owner
  const code = await db
    .selectFrom('otps')
    .where('org_id', '=', org_id)
    .where('mobile', '=', storageKey(owner))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    // If the clock was set back, a code would live longer than the count of its attempts.
    .where('expires_at', '<=', addMs(now, lifetimeMs))
    .select(['salt', 'expires_at', 'wrapped_hash'])
    .executeTakeFirst()
  if (!code) return invalidOtp()
  const subject = attemptSubject(owner)
  const { taken } = await consume(call, attempts, { org_id, subject })
  if (!taken || !countHere(call, org_id, subject)) return invalidOtp()
  if (!sameSecret(call.keyring.unwrap(code.wrapped_hash, wrapContext(owner)), hashCode(code, otp))) {
    await call.audit(org_id, 'otp', ['try'])
    return invalidOtp()
  }
  // A code works once, and only the code that was compared is used up.
  const used = await db
    .updateTable('otps')
    .set({ used_at: now })
    .where('org_id', '=', org_id)
    .where('mobile', '=', storageKey(owner))
    .where('wrapped_hash', '=', code.wrapped_hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('org_id')
    .executeTakeFirst()
  return used ? undefined : invalidOtp()
}
