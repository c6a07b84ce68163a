import type { Log } from '../../core/log.ts'
import { forgetErased } from '../approvals/erasure.ts'
import type { Call } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import { erasePeople } from '../members/erasure.ts'

const hourMs = 60 * 60_000

/** Forgets what has lapsed: nothing of it counts any more. Inside a transaction. */
export const forgetLapsed = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  now: string,
): Promise<void> => {
  const over = await db
    .deleteFrom('registrations')
    .where('expires_at', '<=', now)
    .returning('user_id')
    .execute()
  await erasePeople(
    { db, keyring },
    over.map((row) => row.user_id),
  )
  await forgetErased(db, now)
  await db.deleteFrom('otps').where('expires_at', '<=', now).execute()
  await db.deleteFrom('turns').where('until', '<=', now).execute()
  await db.deleteFrom('email_verifications').where('expires_at', '<=', now).execute()
  await db.deleteFrom('refresh_tokens').where('expires_at', '<=', now).execute()
  await db
    .deleteFrom('token_families')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('refresh_tokens as t').select('t.id').whereRef('t.family', '=', 'token_families.family'),
        ),
      ),
    )
    .execute()
}

/** Forgets at the start and every hour. Answers how to stop. */
export const watchLapsed = ({ storage, keyring }: Service, log: Log): (() => void) => {
  const forget = (): void =>
    void storage
      .write((db) => forgetLapsed({ db, keyring }, storage.now()))
      .catch((error: unknown) => log({ at: storage.now(), level: 'warn', message: String(error) }))
  forget()
  const timer = setInterval(forget, hourMs).unref()
  return () => clearInterval(timer)
}
