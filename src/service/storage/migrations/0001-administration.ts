import type { CreateTableBuilder, Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, ofMember, ofOrganization, texts } from './columns.ts'

const withTimes = <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
  table
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())

const place = <T extends string, C extends string>(table: CreateTableBuilder<T, C>, flag: string) =>
  texts(table, 'name')
    .addColumn('latitude', 'double precision', (column) => column.notNull())
    .addColumn('longitude', 'double precision', (column) => column.notNull())
    .addColumn('radius', 'integer', (column) => column.notNull())
    .addColumn(flag, 'integer', (column) => column.notNull())

const slot = <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
  texts(table, 'name', 'days', 'start', 'end', 'timezone').addColumn('is_active', 'integer', (column) =>
    column.notNull(),
  )

export const up = async (db: Kysely<Tables>): Promise<void> => {
  const { schema } = db

  const numbered = (name: keyof Tables) => schema.createTable(name).addColumn('id', 'integer', identity)

  await withTimes(texts(numbered('organizations'), 'name', 'slug', 'policy')).execute()
  await schema.createIndex('organizations_slug').unique().on('organizations').column('slug').execute()

  await texts(numbered('people'), 'mobile', 'country_code', 'created_at').execute()
  await schema.createIndex('people_mobile').unique().on('people').column('mobile').execute()

  const memberships = ofOrganization(numbered('memberships')).addColumn('user_id', 'integer', (column) =>
    column.notNull().references('people.id'),
  )
  await withTimes(texts(memberships, 'email', 'first_name', 'last_name', 'role', 'state')).execute()
  await schema
    .createIndex('memberships_org_user')
    .unique()
    .on('memberships')
    .columns(['org_id', 'user_id'])
    .execute()
  await schema.createIndex('memberships_user').on('memberships').column('user_id').execute()
  await schema.createIndex('memberships_org_state').on('memberships').columns(['org_id', 'state']).execute()
  await schema.createIndex('memberships_org_email').on('memberships').columns(['org_id', 'email']).execute()

  const authCodes = texts(ofOrganization(numbered('auth_codes')), 'label', 'code_hash', 'hint')
  await withTimes(authCodes.addColumn('uses_left', 'integer').addColumn('expires_at', 'text')).execute()
  await schema.createIndex('auth_codes_hash').unique().on('auth_codes').column('code_hash').execute()
  await schema.createIndex('auth_codes_org').on('auth_codes').column('org_id').execute()

  await texts(numbered('api_keys'), 'name', 'prefix', 'hash', 'created_at')
    .addColumn('org_id', 'integer', (column) => column.references('organizations.id').onDelete('cascade'))
    .addColumn('last_used_at', 'text')
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute()
  await schema.createIndex('api_keys_prefix').unique().on('api_keys').column('prefix').execute()
  await schema.createIndex('api_keys_org').on('api_keys').column('org_id').execute()

  const idpCredentials = schema
    .createTable('idp_credentials')
    .addColumn('org_id', 'integer', (column) =>
      column.primaryKey().references('organizations.id').onDelete('cascade'),
    )
  await texts(idpCredentials, 'provider', 'client_id', 'wrapped_secret', 'updated_at').execute()

  await withTimes(place(ofOrganization(numbered('geofences')), 'is_active')).execute()
  await schema.createIndex('geofences_org').on('geofences').column('org_id').execute()
  await place(ofMember(numbered('user_geofences')), 'enabled').execute()
  await schema
    .createIndex('user_geofences_member')
    .on('user_geofences')
    .columns(['org_id', 'user_id'])
    .execute()

  await withTimes(slot(ofOrganization(numbered('timeslots')))).execute()
  await schema.createIndex('timeslots_org').on('timeslots').column('org_id').execute()
  await slot(ofMember(numbered('user_timeslots'))).execute()
  await schema
    .createIndex('user_timeslots_member')
    .on('user_timeslots')
    .columns(['org_id', 'user_id'])
    .execute()

  await texts(ofMember(numbered('enrollments')), 'token_hash', 'expires_at')
    .addColumn('used_at', 'text')
    .execute()
  await schema.createIndex('enrollments_token').unique().on('enrollments').column('token_hash').execute()
  await schema.createIndex('enrollments_member').on('enrollments').columns(['org_id', 'user_id']).execute()

  // No foreign key: a chain outlives its organization.
  const audit = schema
    .createTable('audit')
    .addColumn('org_id', 'integer', (column) => column.notNull())
    .addColumn('seq', 'integer', (column) => column.notNull())
  await texts(audit, 'at', 'actor', 'action', 'subject', 'changes', 'request_id', 'prev_hash', 'hash')
    .addPrimaryKeyConstraint('audit_place', ['org_id', 'seq'] as never[])
    .execute()

  // No foreign key: a key that deletes its own organization still keeps the answer for a repeat.
  const idempotency = schema
    .createTable('idempotency')
    .addColumn('key_id', 'integer', (column) => column.notNull())
  await texts(idempotency, 'idempotency_key', 'fingerprint', 'answer', 'created_at')
    .addPrimaryKeyConstraint('idempotency_key_of', ['key_id', 'idempotency_key'] as never[])
    .execute()
  await schema.createIndex('idempotency_created').on('idempotency').column('created_at').execute()

  const signingKeys = schema
    .createTable('signing_keys')
    .addColumn('kid', 'text', (column) => column.primaryKey())
  await texts(signingKeys, 'public_jwk', 'wrapped_jwk', 'created_at')
    .addColumn('retired_at', 'text')
    .execute()
}
