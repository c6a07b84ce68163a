import type { Db } from './schema.ts'

// Values that the service keeps across restarts.

export const readSetting = async (db: Db, name: string): Promise<string | undefined> => {
  const row = await db.selectFrom('settings').where('name', '=', name).select('value').executeTakeFirst()
  return row?.value
}

export const writeSetting = async (db: Db, name: string, value: string): Promise<void> => {
  await db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((of) => of.column('name').doUpdateSet({ value }))
    .execute()
}

/** Writes a setting unless there is one. Returns the one that there is. */
export const keepSetting = async (db: Db, name: string, value: string): Promise<string> => {
  await db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((of) => of.column('name').doNothing())
    .execute()
  return (await readSetting(db, name))!
}
