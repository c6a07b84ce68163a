import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, index, ofMember, texts, uniqueIndex } from './columns.ts'

export const up = async (db: Kysely<Tables>): Promise<void> => {
  const { schema } = db

  const numbered = (name: keyof Tables) => schema.createTable(name).addColumn('id', 'integer', identity)

  await schema
    .alterTable('enrollments')
    .addColumn('user_handle', 'text', (column) => column.notNull().defaultTo(''))
    .execute()

  await texts(
    ofMember(numbered('devices')),
    'name',
    'kind',
    'credential_id',
    'public_key',
    'user_handle',
    'registered_at',
  )
    .addColumn('algorithm', 'integer', (column) => column.notNull())
    .addColumn('counter', 'integer', (column) => column.notNull())
    .addColumn('last_used_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute()
  await uniqueIndex(schema, 'devices_credential', 'devices', ['credential_id'])
  await index(schema, 'devices_member', 'devices', ['org_id', 'user_id'])

  await texts(
    ofMember(numbered('approvals')),
    'request_id',
    'requester',
    'action',
    'approver_mobile',
    'factors',
    'nonce',
    'requested_at',
    'expires_at',
  )
    .addColumn('status', 'text', (column) => column.notNull().defaultTo('pending'))
    // No foreign key: the bearer token of the tool server has the id 0, which is not in the store.
    .addColumn('key_id', 'integer', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('number', 'text')
    .addColumn('number_tries', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('detail', 'text')
    .addColumn('decided_at', 'text')
    .addColumn('ended_at', 'text')
    .addColumn('device_id', 'integer')
    .addColumn('attestation', 'text')
    .execute()
  await uniqueIndex(schema, 'approvals_request', 'approvals', ['request_id'])
  await index(schema, 'approvals_member', 'approvals', ['org_id', 'user_id', 'requested_at'])
  await index(schema, 'approvals_due', 'approvals', ['status', 'expires_at'])
  await index(schema, 'approvals_ended', 'approvals', ['ended_at'])

  await texts(
    ofMember(schema.createTable('mutes')).addColumn('key_id', 'integer', (column) => column.notNull()),
    'until',
  )
    .addPrimaryKeyConstraint('mute_of', ['org_id', 'user_id', 'key_id'] as never[])
    .execute()

  await texts(
    schema.createTable('settings').addColumn('name', 'text', (column) => column.primaryKey()),
    'value',
  ).execute()
}
