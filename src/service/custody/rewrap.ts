import { sql } from 'kysely'
import type { MacTable, RowMacs, Wrapping } from '../call/keyring.ts'
import type { Db, Tables } from '../storage/schema.ts'
import type { CoveredRow } from '../storage/schema/covered.ts'
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

/** What tells the rows of a table apart. */
const keys: Record<MacTable, string> = {
  signing_keys: 'kid',
  devices: 'id',
  enrollments: 'id',
  people: 'id',
  approvals: 'id',
}
const tables = Object.keys(keys) as MacTable[]

/** One that ended is decided no more. */
const needed = (table: MacTable) => (table === 'approvals' ? sql`status = 'pending'` : sql`1 = 1`)

type Row<T extends MacTable> = CoveredRow<T> & { row_mac: string | null }

/** Reads a table in parts. */
export async function* rowsOf<T extends MacTable>(
  db: Db,
  table: T,
): AsyncGenerator<{ key: string; row: Row<T> }[]> {
  const key = keys[table]
  for (let offset = 0; ; offset += batch) {
    const { rows } = await sql<Row<T>>`
      select * from ${sql.table(table)} where ${needed(table)} order by ${sql.ref(key)} limit ${batch} offset ${offset}`.execute(
      db,
    )
    yield rows.map((row) => ({ key: String((row as Record<string, unknown>)[key]), row }))
    if (rows.length < batch) return
  }
}

type Judge = <T extends MacTable>(table: T, row: Row<T>) => boolean

/**
 * Gives the MAC of `to` to each row that is `authentic`, and none to the others. Answers those that had one which did not
 * hold.
 */
export const remac = async (db: Db, to: RowMacs, authentic: Judge): Promise<string[]> => {
  const left_out: string[] = []
  for (const table of tables)
    for await (const rows of rowsOf(db, table))
      for (const { key, row } of rows) {
        const row_mac = authentic(table, row) ? to.macOf(table, row) : null
        if (row_mac === null && row.row_mac !== null) left_out.push(`${table}:${key}`)
        await sql`update ${sql.table(table)} set row_mac = ${row_mac}
          where ${sql.ref(keys[table])} = ${(row as Record<string, unknown>)[keys[table]]}`.execute(db)
      }
  return left_out
}
