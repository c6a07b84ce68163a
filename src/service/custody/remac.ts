import { sql } from 'kysely'
import type { MacTable, RowMacs } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'
import type { CoveredRow } from '../storage/schema/covered.ts'

const batch = 500

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
