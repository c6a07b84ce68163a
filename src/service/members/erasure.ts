import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { randomToken } from '../../core/ids.ts'
import type { Call } from '../call/call.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'
import { keepSetting } from '../storage/settings.ts'
import { isShared, lockNumbers } from '../storage/transaction.ts'

/**
 * Deletes what apps registered with the keys of an organization: for one person, or for everyone together with the codes,
 * limits and unsent messages of the organization. Returns the ids of the people.
 */
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
  // A deleted organization sends no more messages. The records of sent ones stay until they expire.
  await db.deleteFrom('outbox').where('org_id', '=', orgId).where('wrapped', 'is not', null).execute()
  return [...users]
}

/** Waits until no other transaction adds anything to these people, whatever its organization. */
const lockPeople = async (db: Db, userIds: readonly number[]): Promise<void> => {
  if (!isShared(db)) return
  const people = await db.selectFrom('people').where('id', 'in', userIds).select('mobile').execute()
  await lockNumbers(
    db,
    people.map(({ mobile }) => mobile),
  )
}

/** Erases the people among these who have no membership, no account and no open registration. */
export const erasePeople = async ({ db, keyring }: Pick<Call, 'db' | 'keyring'>, userIds: number[]) => {
  for (let at = 0; at < userIds.length; at += 1000) {
    const some = userIds.slice(at, at + 1000)
    await lockPeople(db, some)
    const gone = await db
      .selectFrom('people')
      .where('id', 'in', some)
      .where(({ and, not, exists, selectFrom }) =>
        and(
          (['memberships', 'mobile_accounts', 'registrations'] as const).map((table) =>
            not(exists(selectFrom(table).select('user_id').whereRef('user_id', '=', 'people.id'))),
          ),
        ),
      )
      .select('id')
      .execute()
    const ids = gone.map(({ id }) => id)
    if (ids.length === 0) continue
    await rememberPeople({ db, keyring }, ids)
    await db.deleteFrom('people').where('id', 'in', ids).execute()
  }
}

// A person who is deleted and created again gets the same id, so that devices, mutes and limits still apply. The store has
// only a MAC of the number.

const setting = 'erased_people'

type Deps = { db: Db; keyring: Pick<Keyring, 'wrap' | 'unwrap' | 'macOf' | 'holds'> }

/** Created once for each store and wrapped by the master key: a thief of the store cannot hash all numbers. */
const macKey = async ({ db, keyring }: Deps): Promise<string> => {
  const value = await keepSetting(db, setting, keyring.wrap(randomToken(), setting))
  return keyring.unwrap(value, setting)
}

const macOf = (key: string, mobile: string): string => createHmac('sha256', key).update(mobile).digest('hex')

/** The people among these whose id other tables refer to. */
const withHistory = (db: Db, userIds: readonly number[]) =>
  db
    .selectFrom('people as p')
    .where('p.id', 'in', userIds)
    .where(({ or, exists, selectFrom }) =>
      or([
        ...(['devices', 'ballots', 'mutes', 'verifications'] as const).map((table) =>
          exists(selectFrom(table).select('user_id').whereRef('user_id', '=', 'p.id')),
        ),
        exists(
          selectFrom('turns as t')
            .select('t.slot')
            .where('t.subject', '=', sql<string>`'user:' || ${sql.ref('p.id')}`),
        ),
      ]),
    )
    .selectAll('p')
    .execute()

/** Stores the ids of people who are about to be deleted, if they have a history. */
export const rememberPeople = async (deps: Deps, userIds: readonly number[]): Promise<void> => {
  const people = await withHistory(deps.db, userIds)
  if (people.length === 0) return
  const key = await macKey(deps)
  for (const person of people) {
    // Another program gave it that number, which must not get the id.
    if (!deps.keyring.holds('people', person)) continue
    const row = { user_id: person.id, mobile_mac: macOf(key, person.mobile) }
    await deps.db
      .insertInto('erased_people')
      .values({ ...row, row_mac: deps.keyring.macOf('erased_people', row) })
      .onConflict((of) => of.column('user_id').doNothing())
      .execute()
  }
}

/**
 * Takes back the id that a deleted person with this number had; undefined for a new person, and if another program wrote which
 * id that was.
 */
export const recallPerson = async (deps: Deps, mobile: string): Promise<number | undefined> => {
  const anybody = await deps.db.selectFrom('erased_people').select('user_id').limit(1).executeTakeFirst()
  if (!anybody) return undefined
  const mobile_mac = macOf(await macKey(deps), mobile)
  const former = await deps.db
    .deleteFrom('erased_people')
    .where('mobile_mac', '=', mobile_mac)
    .returningAll()
    .executeTakeFirst()
  return former && deps.keyring.holds('erased_people', former) ? former.user_id : undefined
}
