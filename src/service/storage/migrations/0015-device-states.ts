import { PostgresAdapter, sql, type Kysely } from 'kysely'
import type { Tables } from '../schema.ts'

type Db = Kysely<Tables>

/** Rows that outlive a membership: a person who is deleted and created again keeps their devices, mutes and limits. */
const outliving = ['devices', 'approvals', 'mutes', 'verifications'] as const

const ofMembership =
  /foreign key \("org_id", "user_id"\) references "memberships" \("org_id", "user_id"\) on delete cascade/
const ofOrganization = 'foreign key ("org_id") references "organizations" ("id") on delete cascade'

const outliveInPostgres = async ({ schema }: Db, table: (typeof outliving)[number]): Promise<void> => {
  await schema.alterTable(table).dropConstraint('of_member').execute()
  await schema
    .alterTable(table)
    .addForeignKeyConstraint('of_organization', ['org_id'], 'organizations', ['id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute()
}

/** SQLite cannot change a foreign key, so this replaces the table with its rows, its indexes and the next id. */
const outliveInSqlite = async (db: Db, table: (typeof outliving)[number]): Promise<void> => {
  const { rows } = await sql<{ type: string; sql: string }>`
    select type, sql from sqlite_master where tbl_name = ${table} and sql is not null`.execute(db)
  const made = rows.find(({ type }) => type === 'table')!.sql
  const remade = made
    .replace(ofMembership, ofOrganization)
    .replace(/^create table "?\w+"?/i, `create table "new_${table}"`)
  await sql.raw(remade).execute(db)
  await sql.raw(`insert into "new_${table}" select * from "${table}"`).execute(db)
  const next = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(db)
  await db.schema.dropTable(table).execute()
  await sql.raw(`alter table "new_${table}" rename to "${table}"`).execute(db)
  for (const { seq } of next.rows) {
    await sql`delete from sqlite_sequence where name = ${table}`.execute(db)
    await sql`insert into sqlite_sequence (name, seq) values (${table}, ${seq})`.execute(db)
  }
  for (const { type, sql: text } of rows) if (type === 'index') await sql.raw(text).execute(db)
}

const addDeviceColumns = async ({ schema }: Db): Promise<void> => {
  const column = (name: string, type: 'text' | 'integer') =>
    schema.alterTable('devices').addColumn(name, type).execute()
  await schema
    .alterTable('devices')
    .addColumn('state', 'text', (state) => state.notNull().defaultTo('active'))
    .execute()
  await schema
    .alterTable('devices')
    .addColumn('proof', 'text', (proof) => proof.notNull().defaultTo('link'))
    .execute()
  await column('bound_at', 'text')
  await column('approved_at', 'text')
  await column('active_from', 'text')
  await column('enrolled_by', 'integer')
  await column('aaguid', 'text')
  await column('backup_eligible', 'integer')
  await column('attestation_format', 'text')
}

export const up = async (db: Db): Promise<void> => {
  await addDeviceColumns(db)
  await db
    .updateTable('devices')
    .set(({ ref }) => ({ bound_at: ref('registered_at') }))
    .execute()
  await db.updateTable('devices').set({ state: 'revoked' }).where('revoked_at', 'is not', null).execute()

  await db.schema.alterTable('enrollments').addColumn('created_by', 'integer').execute()
  await db.schema.alterTable('memberships').addColumn('promoted_at', 'text').execute()
  await db.schema.alterTable('memberships').addColumn('admin_from', 'text').execute()
  await db.schema.alterTable('mobile_accounts').addColumn('email_changed_at', 'text').execute()
  await db.schema.alterTable('approvals').addColumn('erased_at', 'text').execute()

  await db.schema
    .createTable('erased_people')
    .addColumn('user_id', 'integer', (column) => column.primaryKey())
    .addColumn('mobile_mac', 'text', (column) => column.notNull().unique())
    .execute()

  const outlive = db.getExecutor().adapter instanceof PostgresAdapter ? outliveInPostgres : outliveInSqlite
  for (const table of outliving) await outlive(db, table)
  await sql`create index devices_pending on devices (active_from) where state = 'pending'`.execute(db)
}
