import type { Kysely } from 'kysely'
import { nationalNumber } from '../../../factors/phone.ts'
import type { Tables } from '../schema.ts'

/** Rows in memory at the same time. */
const batch = 1000

export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .alterTable('people')
    .addColumn('national', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  for (let last = 0; ;) {
    const people = await db
      .selectFrom('people')
      .where('id', '>', last)
      .select(['id', 'mobile', 'country_code'])
      .orderBy('id')
      .limit(batch)
      .execute()
    for (const { id, ...phone } of people)
      await db
        .updateTable('people')
        .set({ national: nationalNumber(phone) })
        .where('id', '=', id)
        .execute()
    if (people.length < batch) return
    last = people.at(-1)!.id
  }
}
