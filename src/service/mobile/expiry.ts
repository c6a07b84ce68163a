import { forgetErased } from '../approvals/erasure.ts'
import type { Call } from '../call/call.ts'
import { erasePeople } from '../members/member.ts'
import type { Log } from '../../core/log.ts'
import type { Service } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'

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

/** All that was registered with the keys of an organization; of one person, or of everybody, and then what waits to be sent. */
export const eraseRealm = async (db: Db, orgId: number, userId?: number): Promise<number[]> => {
  const tables = ['registrations', 'mobile_accounts', 'token_families', 'email_verifications'] as const
  const users = new Set<number>()
  for (const table of tables) {
    const rows = await db
      .deleteFrom(table)
      .where('org_id', '=', orgId)
      .$if(userId !== undefined, (query) => query.where('user_id', '=', userId!))
      .returning('user_id')
      .execute()
    for (const row of rows) users.add(row.user_id)
  }
  if (userId !== undefined) return [...users]
  await db.deleteFrom('otps').where('org_id', '=', orgId).execute()
  await db.deleteFrom('turns').where('org_id', '=', orgId).execute()
  // Nothing more is said in its name; of what was sent, a shortened recipient stays for a while.
  await db.deleteFrom('outbox').where('org_id', '=', orgId).where('wrapped', 'is not', null).execute()
  return [...users]
}
