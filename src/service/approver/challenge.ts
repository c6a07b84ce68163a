import { sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import type { Keyring } from '../call/keyring.ts'

/** What an assertion answers: which statement it stands for. The service keeps none of them. */
export type Question =
  | { type: 'session' }
  | {
      type: 'member-move'
      org_id: number
      user_id: number
      move: 'accept' | 'reject' | 'hold' | 'promote'
      device_id: number
    }
  | {
      type: 'device-move'
      org_id: number
      /** The device that is approved or refused. */
      subject: number
      move: 'approve' | 'refuse'
      device_id: number
    }
  | { type: 'device-refusal'; subject: number }

type Sealed = { question: Question; expires_at: string }

const lifetimeMs = 120_000
const context = 'approver challenge'

/** Sealed by the master key, so any node that shares it can read it and nobody else can make one. Base64url. */
export const makeChallenge = ({ wrap }: Pick<Keyring, 'wrap'>, question: Question, now: string): string => {
  const expires_at = addMs(now, lifetimeMs)
  return Buffer.from(wrap(JSON.stringify({ question, expires_at } satisfies Sealed), context)).toString(
    'base64url',
  )
}

const over = (): Refusal =>
  new Refusal(410, 'challenge_over', 'The challenge was answered, has lapsed, or never was', {
    hint: 'Ask for a new one',
  })

const unseal = (keyring: Pick<Keyring, 'unwrap'>, challenge: string): Sealed => {
  try {
    return JSON.parse(keyring.unwrap(Buffer.from(challenge, 'base64url').toString(), context)) as Sealed
  } catch {
    throw over()
  }
}

/** When a challenge lapses. Fails with 410 unless it asks exactly this. */
export const readChallenge = (
  keyring: Pick<Keyring, 'unwrap'>,
  challenge: string,
  question: Question,
  now: string,
): string => {
  const { question: asked, expires_at } = unseal(keyring, challenge)
  const keys = new Set([...Object.keys(asked), ...Object.keys(question)]) as Set<keyof Question>
  if (expires_at <= now || [...keys].some((key) => asked[key] !== question[key])) throw over()
  return expires_at
}

/** One use: fails with 410 for the second. Forgets those that have lapsed. */
export const spendChallenge = async (
  { db, now }: Call,
  challenge: string,
  expires_at: string,
): Promise<void> => {
  // The clock of this transaction; it may have lapsed since it was read.
  if (expires_at <= now) throw over()
  await db.deleteFrom('spent_challenges').where('expires_at', '<=', now).execute()
  await db
    .insertInto('spent_challenges')
    .values({ hash: sha256(challenge), expires_at })
    .onConflict((of) => of.column('hash').doNothing())
    .returning('hash')
    .executeTakeFirstOrThrow(over)
}
