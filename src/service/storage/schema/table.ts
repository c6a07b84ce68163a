import { type Column, free, id, orNull, text } from './columns.ts'

type Columns = Record<string, Column>

type Details<C extends Columns> = {
  /** The columns of its primary key; `id` where none are named. */
  key?: (keyof C & string)[]
  /** Its indexes by the end of their name: their columns in SQL, after `unique` where two rows cannot have the same. */
  indexes?: Record<string, `${'unique ' | ''}(${string}`>
  /** Whether its rows are deleted with the membership of their `org_id` and `user_id`. */
  isOfMember?: true
  /** Whether its rows are about the store itself, so that no copy contains them. */
  isOfStore?: true
}

/** A table, declared once: its SQL, the type of its rows, what copies contain and what MACs cover come from here. */
export const table = <const C extends Columns>(columns: C, details: Details<C> = {}) => ({
  columns,
  key: (details.key ?? ['id']) as readonly string[],
  indexes: details.indexes ?? {},
  isOfMember: details.isOfMember ?? false,
  isOfStore: details.isOfStore ?? false,
  /** Whether the store assigns its ids. */
  isNumbered: columns['id']?.sql === id.sql,
})

/** A table whose rows have a MAC under the master key, because decisions rely on them. It covers each column that is not free. */
export const sealed = <const C extends Columns>(columns: C, details: Details<C> = {}) => ({
  // Null once a row that is valid once was used.
  ...table({ ...columns, row_mac: free(orNull(text)) }, details as object),
  isSealed: true as const,
})

export type Table = ReturnType<typeof table> & { isSealed?: true }

const ofMember = 'foreign key (org_id, user_id) references memberships (org_id, user_id) on delete cascade'

/** The statements that create a table and its indexes, in the words of SQLite. */
export const statementsOf = (name: string, { columns, key, indexes, ...of }: Table): string[] => {
  const parts = Object.entries(columns).map(([column, { sql }]) => `"${column}" ${sql}`)
  if (!of.isNumbered) parts.push(`primary key (${key.join(', ')})`)
  if (of.isOfMember) parts.push(ofMember)
  return [
    `create table ${name} (${parts.join(', ')})`,
    ...Object.entries(indexes).map(([end, on]) => {
      const unique = on.startsWith('unique') ? 'unique ' : ''
      return `create ${unique}index ${name}_${end} on ${name} ${on.slice(unique.length)}`
    }),
  ]
}
