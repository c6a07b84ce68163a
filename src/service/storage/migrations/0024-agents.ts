import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { index, texts } from './columns.ts'

/** Keys that people gave to agents through OAuth, and the clients that registered themselves. */
export const up = async ({ schema }: Kysely<Tables>): Promise<void> => {
  const keys = schema.alterTable('api_keys')
  for (const name of ['audience', 'client_id', 'client_name', 'code_hash'])
    await keys.addColumn(name, 'text').execute()
  await schema
    .createIndex('api_keys_code_hash')
    .unique()
    .on('api_keys')
    .column('code_hash')
    .where('code_hash', 'is not', null)
    .execute()
  await texts(
    schema.createTable('oauth_clients').addColumn('id', 'text', (column) => column.primaryKey()),
    'metadata',
    'created_at',
    'expires_at',
  )
    .addColumn('used_at', 'text')
    .execute()
  await index(schema, 'oauth_clients_expiry', 'oauth_clients', ['expires_at'])
}
