import type { Wrapping } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'

const name = 'custody'

/**
 * The marker of a store whose rows are authenticated. It is wrapped, so only who has the master key can make one, and
 * whoever opens the store learns from it at once whether the master key is the right one.
 */
export const readMarker = async (db: Db): Promise<string | undefined> => {
  const row = await db.selectFrom('settings').where('name', '=', name).select('value').executeTakeFirst()
  return row?.value
}

export const insertMarker = async (db: Db, { wrap }: Wrapping, at: string): Promise<void> => {
  await db
    .insertInto('settings')
    .values({ name, value: wrap(at, name) })
    .execute()
}
