import { type RawBuilder, sql } from 'kysely'
import type { MacTable, RowMacs, Wrapping } from '../call/keyring.ts'
import type { Db, Tables } from '../storage/schema.ts'
import type { CoveredRow } from '../storage/schema/covered.ts'
import { type Context, keptColumns, keptSettings } from '../storage/schema/wrapped.ts'

const batch = 500

/** The rows of an ordered query, read in batches. */
async function* readRows<Row>(db: Db, query: RawBuilder<Row>): AsyncGenerator<Row> {
  for (let offset = 0; ; offset += batch) {
    const { rows } = await sql<Row>`${query} limit ${batch} offset ${offset}`.execute(db)
    yield* rows
    if (rows.length < batch) return
  }
}

/**
 * Wraps every stored value again, inside the transaction of `db`. `unreadable` are the contexts of values that `from`
 * cannot open. They were of no use before, and stay as they are.
 */
export const rewrap = async (db: Db, from: Pick<Wrapping, 'unwrap'>, to: Pick<Wrapping, 'wrap'>) => {
  const done = { values: 0, unreadable: [] as string[] }

  const convert = (value: string, context: Context): string | undefined => {
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
    const keys = sql.join(by.map((key) => sql.ref(key)))
    const query = sql<Record<string, string | number>>`
      select ${keys}, ${sql.ref(column)} as wrapped from ${sql.table(table satisfies keyof Tables)}
      where ${sql.ref(column)} is not null order by ${keys}`
    for await (const row of readRows(db, query)) {
      const context = [place, ...by.map((key) => row[key])].join(':') as Context
      const wrapped = convert(String(row.wrapped), context)
      if (wrapped === undefined) continue
      const isRow = sql.join(
        by.map((key) => sql`${sql.ref(key)} = ${row[key]}`),
        sql` and `,
      )
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${wrapped} where ${isRow}`.execute(db)
    }
  }
  const settings = await db.selectFrom('settings').where('name', 'in', keptSettings).selectAll().execute()
  for (const { name, value } of settings) {
    const wrapped = convert(value, name as (typeof keptSettings)[number])
    if (wrapped !== undefined)
      await db.updateTable('settings').set({ value: wrapped }).where('name', '=', name).execute()
  }
  return done
}

const primaryKeys = {
  signing_keys: 'kid',
  devices: 'id',
  enrollments: 'id',
  people: 'id',
  approvals: 'id',
  appointments: 'id',
  verifications: 'id',
  refresh_tokens: 'id',
  email_verifications: 'id',
} satisfies Record<MacTable, string>

type Row<T extends MacTable> = CoveredRow<T> & { row_mac: string | null }

/**
 * Gives each row that `from` authenticates its MAC of `to`, and none to the others. Returns the rows that had a MAC and lost it. A request
 * that ended without an approval is not decided again, and needs none.
 */
export const remac = async (
  db: Db,
  from: Pick<RowMacs, 'holds'>,
  to: Pick<RowMacs, 'macOf'>,
): Promise<string[]> => {
  const lost: string[] = []
  for (const [table, key] of Object.entries(primaryKeys) as [MacTable, string][]) {
    const needed = table === 'approvals' ? sql`status in ('pending', 'approved')` : sql`1 = 1`
    for (let after = sql`1 = 1`; ;) {
      const { rows } = await sql<Row<MacTable> & Record<string, unknown>>`
        select * from ${sql.table(table)} where ${needed} and ${after} order by ${sql.ref(key)} limit ${batch}
      `.execute(db)
      for (const row of rows) {
        const row_mac = from.holds(table, row) ? to.macOf(table, row) : null
        if (row_mac === null && row.row_mac !== null) lost.push(`${table}:${String(row[key])}`)
        await sql`
          update ${sql.table(table)} set row_mac = ${row_mac} where ${sql.ref(key)} = ${row[key]}
        `.execute(db)
      }
      if (rows.length < batch) break
      after = sql`${sql.ref(key)} > ${rows.at(-1)![key]}`
    }
  }
  return lost
}
