import { sql } from 'kysely'
import type { MacTable, RowMacs, Wrapping } from '../call/keyring.ts'
import {
  type Db,
  type Tables,
  type CoveredRow,
  sealedTables,
  type WrapContext,
  wrappedColumns,
  wrappedSettings,
  tables,
} from '../storage/schema.ts'
import { readPages, type StoredRow } from '../storage/whole-store.ts'

const setColumn = async (
  db: Db,
  table: keyof Tables,
  row: StoredRow,
  [column, value]: [column: string, value: string | null],
): Promise<void> => {
  const isRow = sql.join(
    tables[table].key.map((key) => sql`${sql.ref(key)} = ${row[key]}`),
    sql` and `,
  )
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value} where ${isRow}`.execute(db)
}

/**
 * Wraps every stored value again, inside the transaction of `db`. `unreadable` are the contexts of values that `from`
 * cannot open. They were of no use before, and stay as they are.
 */
export const rewrap = async (db: Db, from: Pick<Wrapping, 'unwrap'>, to: Pick<Wrapping, 'wrap'>) => {
  const done = { values: 0, unreadable: [] as string[] }

  const convert = (value: string, context: WrapContext): string | undefined => {
    try {
      const wrapped = to.wrap(from.unwrap(value, context), context)
      done.values += 1
      return wrapped
    } catch {
      done.unreadable.push(context)
      return undefined
    }
  }

  for (const { table, column, by } of wrappedColumns)
    for await (const rows of readPages(db, table))
      for (const row of rows) {
        const value = row[column] ?? null
        const context = [table, ...by.map((key) => row[key])].join(':') as WrapContext
        const wrapped = value === null ? undefined : convert(String(value), context)
        if (wrapped !== undefined) await setColumn(db, table, row, [column, wrapped])
      }
  const settings = await db.selectFrom('settings').where('name', 'in', wrappedSettings).selectAll().execute()
  for (const row of settings) {
    const wrapped = convert(row.value, row.name as (typeof wrappedSettings)[number])
    if (wrapped !== undefined) await setColumn(db, 'settings', row, ['value', wrapped])
  }
  return done
}

/** Gives each row that `from` authenticates its MAC of `to`, and none to the others. Returns the rows that lost one. */
export const remac = async (
  db: Db,
  from: Pick<RowMacs, 'holds'>,
  to: Pick<RowMacs, 'macOf'>,
): Promise<string[]> => {
  const lost: string[] = []
  for (const table of sealedTables)
    if (table !== 'api_keys')
      for await (const rows of readPages(db, table))
        for (const row of rows) {
          const known = row as CoveredRow<MacTable> & { row_mac: string | null }
          const row_mac = from.holds(table, known) ? to.macOf(table, known) : null
          if (row_mac === null && known.row_mac !== null)
            lost.push([table, ...tables[table].key.map((key) => row[key])].join(':'))
          await setColumn(db, table, row, ['row_mac', row_mac])
        }
  return lost
}
