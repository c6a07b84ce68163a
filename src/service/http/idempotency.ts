import { Refusal, conflict } from '../refusal.ts'
import type { Db } from '../storage/schema.ts'
import { later } from '../later.ts'
import type { Envelope } from './envelope.ts'

const day = 24 * 60 * 60 * 1000

/** One request of one API key, whichever of its secrets is shown, that may be repeated: `fingerprint` tells it from another under the same key. */
export type Repeatable = { keyId: number; idempotencyKey: string; fingerprint: string }

/** The header's value; undefined without the header. Fails with a Refusal 400. */
export const checkIdempotencyKey = (header: string | undefined): string | undefined => {
  if (header === undefined || /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(header)) return header
  throw new Refusal(
    400,
    'bad_idempotency_key',
    'Idempotency-Key must be 1 to 255 printable ASCII characters',
    {
      hint: 'Use a fresh random value for each write, for example a UUID',
    },
  )
}

const oldestKept = (now: string): string => later(now, -day)

/** The answer that was given before, if any. Fails with a Refusal 409 when it was to another request. */
export const findKept = async (db: Db, request: Repeatable, now: string): Promise<Envelope | undefined> => {
  const kept = await db
    .selectFrom('idempotency')
    .where('key_id', '=', request.keyId)
    .where('idempotency_key', '=', request.idempotencyKey)
    .where('created_at', '>=', oldestKept(now))
    .select(['fingerprint', 'answer'])
    .executeTakeFirst()
  if (!kept) return undefined
  if (kept.fingerprint !== request.fingerprint)
    throw conflict(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request',
      'Use a fresh key for each request; repeat a request exactly or not at all',
    )
  return JSON.parse(kept.answer) as Envelope
}

/** As `findKept`, in the transaction of the write; forgets what is too old. */
export const replay = async (db: Db, request: Repeatable, now: string): Promise<Envelope | undefined> => {
  await db.deleteFrom('idempotency').where('created_at', '<', oldestKept(now)).execute()
  return findKept(db, request, now)
}

/** Keeps the answer, in the transaction of the write itself. */
export const keep = async (db: Db, request: Repeatable, now: string, answer: Envelope): Promise<void> => {
  await db
    .insertInto('idempotency')
    .values({
      key_id: request.keyId,
      idempotency_key: request.idempotencyKey,
      fingerprint: request.fingerprint,
      answer: JSON.stringify(answer),
      created_at: now,
    })
    .execute()
}
