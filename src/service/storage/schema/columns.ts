import type { Generated } from 'kysely'

/** A column: its SQL in the words of SQLite, and the type of its values. */
export type Column<V = unknown, Free extends boolean = boolean> = {
  sql: string
  /** Whether the MAC of a row leaves it out. */
  isFree: Free
  /** Of a column that the master key wraps: the columns that name its row, in the context of the value. */
  wrappedBy?: readonly string[]
  /** What a new row contains that does not say it; otherwise null. */
  initial?: number | string
  /** Only a type: what a row of Kysely contains. */
  value: V
}

const column = <V>(sql: string) => ({ sql, isFree: false }) as Column<V, false>

/** An id that the store assigns. */
export const id = column<Generated<number>>('integer primary key autoincrement')
export const integer = column<number>('integer not null')
export const real = column<number>('double precision not null')
// Times are ISO 8601 text in UTC with milliseconds, so that they compare as text in every dialect.
export const text = column<string>('text not null')
export const flag = column<0 | 1>('integer not null')
export const textOf = <V extends string>() => column<V>('text not null')
export const integerOf = <V extends number>() => column<V>('integer not null')

export const orNull = <V, F extends boolean>(of: Column<V, F>) =>
  ({ ...of, sql: of.sql.replace(' not null', '') }) as Column<V | null, F>

export const withDefault = <V extends number | string>(of: Column<V, false>, initial: V) => ({
  ...column<Generated<V>>(`${of.sql} default '${initial}'`),
  initial,
})

/** A row is deleted with the one that it refers to. */
export const partOf = <V>(of: Column<V, false>, row: string): Column<V, false> => ({
  ...of,
  sql: `${of.sql} references ${row} on delete cascade`,
})

/** Outside the MAC: what each use changes, what people only read, and what is authenticated by itself. */
export const free = <V>(of: Column<V>) => ({ ...of, isFree: true }) as Column<V, true>

/** Values that the master key wraps. They are authenticated by themselves, with the columns `by` of their row. */
export const wrapped = (...wrappedBy: string[]): Column<string, true> => ({ ...free(text), wrappedBy })

/** Columns of one kind. */
export const each = <C extends Column, const N extends string>(of: C, ...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, of])) as Record<N, C>

export const orgId = { org_id: partOf(integer, 'organizations (id)') }
/** A person (`user_id`) in an organization. */
export const member = each(integer, 'org_id', 'user_id')
