import type { Insertable, Kysely, Selectable } from 'kysely'
import { approvals } from './schema/approvals.ts'
import type { Column } from './schema/columns.ts'
import { devices } from './schema/devices.ts'
import { mobile } from './schema/mobile.ts'
import { organizations } from './schema/organizations.ts'
import { service } from './schema/service.ts'
import type { Table } from './schema/table.ts'

const declared = { ...service, ...organizations, ...devices, ...approvals, ...mobile }

type Declared = typeof declared
type Name = keyof Declared
type Columns<T extends Name> = Declared[T]['columns']

export type Tables = {
  [T in Name]: { [C in keyof Columns<T>]: Columns<T>[C] extends Column<infer V> ? V : never }
}

/** A connection, in a transaction or not. Every query of the service goes through one. */
export type Db = Kysely<Tables>

/** Every table, after those that it refers to. */
export const tables: Record<Name, Table> = declared
export const tableNames = Object.keys(tables) as Name[]

export type SealedTable = { [T in Name]: Declared[T] extends { isSealed: true } ? T : never }[Name]
export const sealedTables = tableNames.filter((name): name is SealedTable => tables[name].isSealed ?? false)

/** The covered columns of a row. */
export type CoveredRow<T extends SealedTable> = Pick<
  Selectable<Tables[T]>,
  { [C in keyof Columns<T>]: Columns<T>[C] extends { isFree: true } ? never : C }[keyof Columns<T>] &
    keyof Selectable<Tables[T]>
>

const covered = Object.fromEntries(
  sealedTables.map((name) => {
    const columns = Object.entries(tables[name].columns)
    return [name, columns.flatMap(([column, { isFree }]) => (isFree ? [] : [column]))]
  }),
) as Record<SealedTable, string[]>

/** The table and the covered columns as one text; equal rows give equal texts. */
export const coveredText = <T extends SealedTable>(table: T, row: CoveredRow<T>): string => {
  const values = row as Record<string, unknown>
  // A column that is not there, because another program has renamed it, is not null.
  return JSON.stringify([
    table,
    ...covered[table].map((column) => values[column] ?? (column in values ? null : [])),
  ])
}

/**
 * A new row with each of its columns but its id, for a MAC over what the service meant: a database can give columns that an INSERT
 * leaves out another default.
 */
export const newRow = <T extends Name>(table: T, values: Insertable<Tables[T]>) =>
  ({
    ...Object.fromEntries(
      Object.entries(tables[table].columns)
        .filter(([column]) => column !== 'id' && column !== 'row_mac')
        .map(([column, { initial = null }]) => [column, initial]),
    ),
    ...values,
  }) as Omit<Selectable<Tables[T]>, 'id' | 'row_mac'>

/** Every column with wrapped values. The context of a value is the table and the values of `by`, so that `rewrap` finds it. */
export const wrappedColumns = tableNames.flatMap((table) =>
  Object.entries(tables[table].columns).flatMap(([column, { wrappedBy: by }]) =>
    by ? [{ table, column, by }] : [],
  ),
)

/** Rows of `settings` whose value is wrapped; the context is the name. */
export const wrappedSettings = ['custody', 'vapid', 'erased_people'] as const

/** Wrapped values that clients keep: they expire after minutes, so a rotation ignores them. */
type Sent =
  | 'approver challenge'
  | 'authorization request'
  | 'authorization code'
  | `session confirmation:${string}`

type Wrapping = {
  [T in Name]: [keyof Columns<T> & `wrapped${string}`] extends [never] ? never : T
}[Name]

/** A value of any other context does not compile. */
export type WrapContext = `${Wrapping}:${string}` | (typeof wrappedSettings)[number] | Sent
