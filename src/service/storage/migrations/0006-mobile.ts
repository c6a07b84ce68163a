import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, ofPerson, texts } from './columns.ts'

export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  // No foreign key to an organization: 0 is the service itself, as in the audit.
  const realm = (name: keyof Tables) =>
    schema.createTable(name).addColumn('org_id', 'integer', (column) => column.notNull())
  const numbered = (name: keyof Tables) =>
    schema
      .createTable(name)
      .addColumn('id', 'integer', identity)
      .addColumn('org_id', 'integer', (column) => column.notNull())
  const index = (table: keyof Tables, name: string) => schema.createIndex(`${table}_${name}`).on(table)

  await texts(ofPerson(realm('registrations')), 'profile', 'created_at', 'expires_at')
    .addPrimaryKeyConstraint('registration_of', ['org_id', 'user_id'] as never[])
    .execute()
  await index('registrations', 'user').column('user_id').execute()

  await texts(ofPerson(numbered('mobile_accounts')), 'first_name', 'last_name', 'created_at', 'updated_at')
    .addColumn('email', 'text')
    .addColumn('email_verified_at', 'text')
    .addColumn('imei', 'text')
    .addColumn('platform', 'text')
    .addColumn('device_name', 'text')
    .execute()
  await index('mobile_accounts', 'user').unique().columns(['user_id', 'org_id']).execute()

  await texts(realm('otps'), 'mobile', 'salt', 'wrapped_hash', 'expires_at')
    .addColumn('used_at', 'text')
    .addPrimaryKeyConstraint('otp_of', ['org_id', 'mobile'] as never[])
    .execute()

  await texts(realm('turns'), 'kind', 'subject', 'at', 'until')
    .addColumn('slot', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('turn_of', ['org_id', 'kind', 'subject', 'slot'] as never[])
    .execute()
  await index('turns', 'until').column('until').execute()

  await texts(ofPerson(realm('token_families')), 'created_at')
    .addColumn('family', 'text', (column) => column.primaryKey())
    .addColumn('ended_at', 'text')
    .execute()
  await index('token_families', 'user').column('user_id').execute()

  await texts(numbered('refresh_tokens'), 'token_hash', 'created_at', 'expires_at')
    .addColumn('family', 'text', (column) =>
      column.notNull().references('token_families.family').onDelete('cascade'),
    )
    .addColumn('spent_at', 'text')
    .execute()
  await index('refresh_tokens', 'token').unique().column('token_hash').execute()
  await index('refresh_tokens', 'family').column('family').execute()

  await texts(ofPerson(numbered('email_verifications')), 'email', 'token_hash', 'created_at', 'expires_at')
    .addColumn('used_at', 'text')
    .execute()
  await index('email_verifications', 'token').unique().column('token_hash').execute()
  await index('email_verifications', 'user').column('user_id').execute()
}
