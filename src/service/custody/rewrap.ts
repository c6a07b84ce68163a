import { sql } from 'kysely'
import type { Wrapping } from '../call/keyring.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { type Context, keptColumns, keptSettings } from '../storage/schema/wrapped.ts'

const batch = 500

export type Rewrapped = {
  values: number
  /** Contexts of values that could not be opened. They were of no use before, and stay as they are. */
  unreadable: string[]
}

/** Wraps every kept value anew, inside the transaction of `db`. */
export const rewrap = async (
  db: Db,
  from: Pick<Wrapping, 'unwrap'>,
  to: Pick<Wrapping, 'wrap'>,
): Promise<Rewrapped> => {
  const done: Rewrapped = { values: 0, unreadable: [] }

  const again = (value: string, context: Context): string | undefined => {
    try {
      const wrapped = to.wrap(from.unwrap(value, context), context)
      done.values += 1
      return wrapped
    } catch {
      done.unreadable.push(context)
      return undefined
    }
  }

  for (const [place, { table, column, by }] of Object.entries(keptColumns)) {
    const keys = sql.join(by.map((one) => sql.ref(one)))
    for (let offset = 0; ; offset += batch) {
      const { rows } = await sql<Record<string, string | number>>`
        select ${keys}, ${sql.ref(column)} as wrapped from ${sql.table(table satisfies keyof Tables)}
        where ${sql.ref(column)} is not null order by ${keys} limit ${batch} offset ${offset}`.execute(db)
      for (const row of rows) {
        const context = [place, ...by.map((one) => row[one])].join(':') as Context
        const wrapped = again(String(row.wrapped), context)
        if (wrapped === undefined) continue
        const found = sql.join(
          by.map((one) => sql`${sql.ref(one)} = ${row[one]}`),
          sql` and `,
        )
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${wrapped} where ${found}`.execute(db)
      }
      if (rows.length < batch) break
    }
  }
  const settings = await db
    .selectFrom('settings')
    .where('name', 'in', [...keptSettings])
    .selectAll()
    .execute()
  for (const { name, value } of settings) {
    const wrapped = again(value, name as (typeof keptSettings)[number])
    if (wrapped !== undefined)
      await db.updateTable('settings').set({ value: wrapped }).where('name', '=', name).execute()
  }
  return done
}
