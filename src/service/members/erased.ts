import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { randomToken } from '../../core/ids.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'

// Whoever deletes a person and creates them again gets the same id, and with it what the service must not forget of
// them: devices, mutes and limits. Of the number itself only a MAC is kept.

const setting = 'erased_people'

type Deps = { db: Db; keyring: Pick<Keyring, 'wrap' | 'unwrap'> }

/** Made once a store, and wrapped by the master key: without it nobody can try all numbers. */
const macKey = async ({ db, keyring }: Deps): Promise<string> => {
  const made = keyring.wrap(randomToken(), setting)
  await db
    .insertInto('settings')
    .values({ name: setting, value: made })
    .onConflict((of) => of.column('name').doNothing())
    .execute()
  const { value } = await db
    .selectFrom('settings')
    .where('name', '=', setting)
    .select('value')
    .executeTakeFirstOrThrow()
  return keyring.unwrap(value, setting)
}

const macOf = (key: string, mobile: string): string => createHmac('sha256', key).update(mobile).digest('hex')

/** People of whom something is kept by their id. */
const withHistory = (db: Db, userIds: readonly number[]) =>
  db
    .selectFrom('people as p')
    .where('p.id', 'in', userIds)
    .where(({ or, exists, selectFrom }) =>
      or([
        exists(selectFrom('devices as d').select('d.id').whereRef('d.user_id', '=', 'p.id')),
        exists(selectFrom('approvals as a').select('a.id').whereRef('a.user_id', '=', 'p.id')),
        exists(selectFrom('mutes as m').select('m.until').whereRef('m.user_id', '=', 'p.id')),
        exists(selectFrom('verifications as v').select('v.id').whereRef('v.user_id', '=', 'p.id')),
        exists(
          selectFrom('turns as t')
            .select('t.slot')
            .where('t.subject', '=', sql<string>`'user:' || ${sql.ref('p.id')}`),
        ),
      ]),
    )
    .select(['p.id', 'p.mobile'])
    .execute()

/** Keeps the ids of people who are about to be deleted, where they have a history. */
export const rememberPeople = async (deps: Deps, userIds: readonly number[]): Promise<void> => {
  const people = await withHistory(deps.db, userIds)
  if (people.length === 0) return
  const key = await macKey(deps)
  for (const { id, mobile } of people)
    await deps.db
      .insertInto('erased_people')
      .values({ user_id: id, mobile_mac: macOf(key, mobile) })
      .onConflict((of) => of.column('user_id').doNothing())
      .execute()
}

/** The id that a deleted person had, for who creates them again; undefined for who is new here. */
export const recallPerson = async (deps: Deps, mobile: string): Promise<number | undefined> => {
  const anybody = await deps.db.selectFrom('erased_people').select('user_id').limit(1).executeTakeFirst()
  if (!anybody) return undefined
  const mobile_mac = macOf(await macKey(deps), mobile)
  const former = await deps.db
    .deleteFrom('erased_people')
    .where('mobile_mac', '=', mobile_mac)
    .returning('user_id')
    .executeTakeFirst()
  return former?.user_id
}
