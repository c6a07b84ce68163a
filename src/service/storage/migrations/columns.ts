import type { ColumnDefinitionBuilder, CreateTableBuilder, SchemaModule } from 'kysely'

// Columns and indexes of several tables.

/** An id that the store assigns: the id of a deleted row is never assigned again. */
export const identity = (column: ColumnDefinitionBuilder) => column.primaryKey().autoIncrement()

export const texts = <T extends string, C extends string>(
  table: CreateTableBuilder<T, C>,
  ...names: string[]
) => {
  let built: CreateTableBuilder<T, string> = table
  for (const name of names) built = built.addColumn(name, 'text', (column) => column.notNull())
  return built
}

export const ofOrganization = <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
  table.addColumn('org_id', 'integer', (column) =>
    column.notNull().references('organizations.id').onDelete('cascade'),
  )

export const ofPerson = <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
  table.addColumn('user_id', 'integer', (column) =>
    column.notNull().references('people.id').onDelete('cascade'),
  )

export const ofMember = <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
  table
    .addColumn('org_id', 'integer', (column) => column.notNull())
    .addColumn('user_id', 'integer', (column) => column.notNull())
    .addForeignKeyConstraint(
      'of_member',
      ['org_id', 'user_id'] as never[],
      'memberships',
      ['org_id', 'user_id'],
      (key) => key.onDelete('cascade'),
    )

export const index = (schema: SchemaModule, name: string, table: string, columns: string[]): Promise<void> =>
  schema.createIndex(name).on(table).columns(columns).execute()

export const uniqueIndex = (
  schema: SchemaModule,
  name: string,
  table: string,
  columns: string[],
): Promise<void> => schema.createIndex(name).unique().on(table).columns(columns).execute()
