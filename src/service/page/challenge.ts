import { sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import type { Keyring } from '../call/keyring.ts'
import type { RowInput } from '../call/row-ids.ts'

/** What an assertion over a challenge means. The service stores no challenge. */
export type Question =
  | { type: 'session' }
  | { type: 'device-refusal'; subject: number }
  /** `device_id`: only the device of the session can answer. */
  | ({ org_id: number; user_id: number; device_id: number } & Signed)

/** What the person at the page signs. `user_id`: whom it concerns, if not the person. */
export type Signed =
  | { type: 'member-move'; user_id: number; move: RowInput<'moveMember'>['move'] }
  /** `subject`: the device that is approved, refused or removed. `with_added`: whether what it added ends with it. */
  | { type: 'device-move'; subject: number; move: RowInput<'moveDevice'>['move']; with_added: boolean }
  | { type: 'device-link' }
  | { type: 'confirmation'; session_id: number }
  | { type: 'report'; request_id: string }
  | { type: 'unmute'; user_id: number; mute_id: string }
  /** `interval`: as it was typed, as JSON. */
  | { type: 'away'; user_id: number; interval: string }
  /** `said`: whether it was an emergency, and why not, as JSON. */
  | { type: 'review'; request_id: string; said: string }
  /** `digest`: of the ids of the requests, or of the authorization request and the name of the agent. */
  | { type: 'denials' | 'consent'; digest: string }

type Sealed = { question: Question; expires_at: string }

const lifetimeMs = 120_000
/** A rule may hold these: the same answer counts until others have approved it, and the approval was used. */
const heldMs = 16 * 60_000
const mayBeHeld: ReadonlySet<Question['type']> = new Set(['member-move', 'device-move', 'unmute'])
const context = 'approver challenge'

/** Wrapped by the master key, so that every node can read it and no one else can create one. Base64url. */
export const createChallenge = (
  { keyring, now }: Pick<Call, 'keyring' | 'now'>,
  question: Question,
): { challenge: string } => {
  const sealed: Sealed = {
    question,
    expires_at: addMs(now, mayBeHeld.has(question.type) ? heldMs : lifetimeMs),
  }
  return { challenge: Buffer.from(keyring.wrap(JSON.stringify(sealed), context)).toString('base64url') }
}

const challengeEnded = (): Refusal =>
  new Refusal(410, 'challenge_over', 'The challenge was answered, has expired, or does not exist', {
    hint: 'Request a new one',
  })

const unseal = (keyring: Pick<Keyring, 'unwrap'>, challenge: string): Sealed => {
  try {
    return JSON.parse(keyring.unwrap(Buffer.from(challenge, 'base64url').toString(), context)) as Sealed
  } catch {
    throw challengeEnded()
  }
}

/** When a challenge expires. Fails with 410 unless it was created for exactly this question. */
export const readChallenge = (
  keyring: Pick<Keyring, 'unwrap'>,
  challenge: string,
  question: Question,
  now: string,
): string => {
  const { question: sealed, expires_at } = unseal(keyring, challenge)
  const keys = new Set([...Object.keys(sealed), ...Object.keys(question)]) as Set<keyof Question>
  if (expires_at <= now || [...keys].some((key) => sealed[key] !== question[key])) throw challengeEnded()
  return expires_at
}

/** Uses up a challenge: fails with 410 the second time. */
export const useChallenge = async (
  { db, now }: Call,
  challenge: string,
  expires_at: string,
): Promise<void> => {
  // The clock of this transaction: the challenge may have expired since it was read.
  if (expires_at <= now) throw challengeEnded()
  await db
    .insertInto('spent_challenges')
    .values({ hash: sha256(challenge), expires_at })
    .onConflict((of) => of.column('hash').doNothing())
    .returning('hash')
    .executeTakeFirstOrThrow(challengeEnded)
}
