import type { CreateTableBuilder, Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, index, ofMember, ofOrganization, texts, uniqueIndex } from './columns.ts'

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
  await uniqueIndex(schema, 'organizations_slug', 'organizations', ['slug'])

  await texts(numbered('people'), 'mobile', 'country_code', 'created_at').execute()
  await uniqueIndex(schema, 'people_mobile', 'people', ['mobile'])

  const memberships = ofOrganization(numbered('memberships')).addColumn('user_id', 'integer', (column) =>
    column.notNull().references('people.id'),
  )
  await withTimes(texts(memberships, 'email', 'first_name', 'last_name', 'role', 'state')).execute()
  await uniqueIndex(schema, 'memberships_org_user', 'memberships', ['org_id', 'user_id'])
  await index(schema, 'memberships_user', 'memberships', ['user_id'])
  await index(schema, 'memberships_org_state', 'memberships', ['org_id', 'state'])
  await index(schema, 'memberships_org_email', 'memberships', ['org_id', 'email'])

  const authCodes = texts(ofOrganization(numbered('auth_codes')), 'label', 'code_hash', 'hint')
  await withTimes(authCodes.addColumn('uses_left', 'integer').addColumn('expires_at', 'text')).execute()
  await uniqueIndex(schema, 'auth_codes_hash', 'auth_codes', ['code_hash'])
  await index(schema, 'auth_codes_org', 'auth_codes', ['org_id'])

  await texts(numbered('api_keys'), 'name', 'prefix', 'hash', 'created_at')
    .addColumn('org_id', 'integer', (column) => column.references('organizations.id').onDelete('cascade'))
    .addColumn('last_used_at', 'text')
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute()
  await uniqueIndex(schema, 'api_keys_prefix', 'api_keys', ['prefix'])
  await index(schema, 'api_keys_org', 'api_keys', ['org_id'])

  const idpCredentials = schema
    .createTable('idp_credentials')
    .addColumn('org_id', 'integer', (column) =>
      column.primaryKey().references('organizations.id').onDelete('cascade'),
    )
  await texts(idpCredentials, 'provider', 'client_id', 'wrapped_secret', 'updated_at').execute()

  await withTimes(place(ofOrganization(numbered('geofences')), 'is_active')).execute()
  await index(schema, 'geofences_org', 'geofences', ['org_id'])
  await place(ofMember(numbered('user_geofences')), 'enabled').execute()
  await index(schema, 'user_geofences_member', 'user_geofences', ['org_id', 'user_id'])

  await withTimes(slot(ofOrganization(numbered('timeslots')))).execute()
  await index(schema, 'timeslots_org', 'timeslots', ['org_id'])
  await slot(ofMember(numbered('user_timeslots'))).execute()
  await index(schema, 'user_timeslots_member', 'user_timeslots', ['org_id', 'user_id'])

  await texts(ofMember(numbered('enrollments')), 'token_hash', 'expires_at')
    .addColumn('used_at', 'text')
    .execute()
  await uniqueIndex(schema, 'enrollments_token', 'enrollments', ['token_hash'])
  await index(schema, 'enrollments_member', 'enrollments', ['org_id', 'user_id'])

  // No foreign key: a chain outlives its organization.
  const audit = schema
    .createTable('audit')
    .addColumn('org_id', 'integer', (column) => column.notNull())
    .addColumn('seq', 'integer', (column) => column.notNull())
  await texts(audit, 'at', 'actor', 'action', 'subject', 'changes', 'request_id', 'prev_hash', 'hash')
    .addPrimaryKeyConstraint('audit_place', ['org_id', 'seq'] as never[])
    .execute()

  // No foreign key: a repeat of the call that deleted the organization of its own key still gets the response.
  const idempotency = schema
    .createTable('idempotency')
    .addColumn('key_id', 'integer', (column) => column.notNull())
  await texts(idempotency, 'idempotency_key', 'fingerprint', 'answer', 'created_at')
    .addPrimaryKeyConstraint('idempotency_key_of', ['key_id', 'idempotency_key'] as never[])
    .execute()
  await index(schema, 'idempotency_created', 'idempotency', ['created_at'])

  const signingKeys = schema
    .createTable('signing_keys')
    .addColumn('kid', 'text', (column) => column.primaryKey())
  await texts(signingKeys, 'public_jwk', 'wrapped_jwk', 'created_at')
    .addColumn('retired_at', 'text')
    .execute()
}
