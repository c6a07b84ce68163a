import type { Call } from '../call/call.ts'
import type { Db } from '../storage/schema.ts'
import { rememberPeople } from './erased.ts'

/** All that was registered with the keys of an organization; of one person, or of everybody, and then what waits to be sent. */
export const eraseAccounts = async (db: Db, orgId: number, userId?: number): Promise<number[]> => {
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

/** Those of these people who are in no organization any more, have no account and are about to make none. */
const selectUnbound = (db: Db, userIds: number[]) =>
  db
    .selectFrom('people')
    .where('id', 'in', userIds)
    .where(({ not, or, exists, selectFrom }) =>
      not(
        or([
          exists(selectFrom('memberships as m').select('m.id').whereRef('m.user_id', '=', 'people.id')),
          exists(selectFrom('mobile_accounts as a').select('a.id').whereRef('a.user_id', '=', 'people.id')),
          exists(
            selectFrom('registrations as r').select('r.user_id').whereRef('r.user_id', '=', 'people.id'),
          ),
        ]),
      ),
    )
    .select('id')

/** Erases those of these people who are in no organization any more, have no account and are about to make none. */
export const erasePeople = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  userIds: number[],
): Promise<void> => {
  for (let at = 0; at < userIds.length; at += 1000) {
    const gone = await selectUnbound(db, userIds.slice(at, at + 1000)).execute()
    const ids = gone.map(({ id }) => id)
    if (ids.length === 0) continue
    await rememberPeople({ db, keyring }, ids)
    await db.deleteFrom('people').where('id', 'in', ids).execute()
  }
}
