import { createHash, type Hash } from 'node:crypto'
import { sql } from 'kysely'
import { failure } from '../../core/errors.ts'
import { type Db, type Tables, tableNames, tables } from './schema.ts'

/** A whole store of any engine, in one transaction. */
export type WholeStore = {
  db: Db
  /** The last id that the store has assigned in a table; 0 if it has assigned none. */
  readLastId(table: keyof Tables): Promise<number>
  writeLastId(table: keyof Tables, id: number): Promise<void>
}

export type TableSum = { table: keyof Tables; rows: number; hash: string }

export type StoredRow = Record<string, string | number | null>

const rowsAtMost = 500

/** The tables that copies contain, after those that they refer to. */
export const copiedTables = tableNames.filter((name) => !tables[name].isOfStore)

/** The rows of a table in the order of its key, a few at a time. */
export const readPages = async function* (db: Db, table: keyof Tables): AsyncGenerator<StoredRow[]> {
  const { key } = tables[table]
  const columns = sql.join(key.map((column) => sql.ref(column)))
  for (let last: StoredRow | undefined; ;) {
    const after = last && sql.join(key.map((column) => sql`${last![column]}`))
    const { rows } = await sql<StoredRow>`
      select * from ${sql.table(table)} ${after ? sql`where (${columns}) > (${after})` : sql``}
      order by ${columns} limit ${rowsAtMost}
    `.execute(db)
    if (rows.length > 0) yield rows
    if (rows.length < rowsAtMost) return
    last = rows.at(-1)
  }
}

/** The columns of a page are the same in each row, and their order depends on the engine. */
const addRows = (hash: Hash, rows: StoredRow[]): void => {
  const names = Object.keys(rows[0]!).sort()
  hash.update(JSON.stringify([names, rows.map((row) => names.map((name) => row[name]))]))
}

/** The number of rows of a table and its SHA-256, with the last id that it assigned. Copies it to `to`. */
const sumTable = async (from: WholeStore, table: keyof Tables, to?: WholeStore): Promise<TableSum> => {
  const hash = createHash('sha256')
  let count = 0
  for await (const rows of readPages(from.db, table)) {
    addRows(hash, rows)
    count += rows.length
    await to?.db
      .insertInto(table as 'settings')
      .values(rows as never)
      .execute()
  }
  const last = tables[table].isNumbered ? await from.readLastId(table) : 0
  if (tables[table].isNumbered) await to?.writeLastId(table, last)
  return { table, rows: count, hash: hash.update(String(last)).digest('hex') }
}

/** Counts and hashes every table. Equal stores have equal sums, whatever their engine is. */
export const sumStore = async (store: WholeStore): Promise<TableSum[]> => {
  const sums: TableSum[] = []
  for (const table of copiedTables) sums.push(await sumTable(store, table))
  return sums
}

/** Copies every table into an empty store, reads it again and compares. `report` gets each table that is done. */
export const copyStore = async (
  from: WholeStore,
  to: WholeStore,
  report: (sum: TableSum) => void = () => undefined,
): Promise<TableSum[]> => {
  const sums: TableSum[] = []
  for (const table of copiedTables) {
    const sum = await sumTable(from, table, to)
    const copied = await sumTable(to, table)
    if (copied.rows !== sum.rows || copied.hash !== sum.hash)
      throw failure(
        'copy_differs',
        `The copy of the table ${table} differs from the original, so nothing was kept`,
        'Run the command again. If it fails again, check the disks of both machines',
      )
    sums.push(sum)
    report(sum)
  }
  return sums
}
