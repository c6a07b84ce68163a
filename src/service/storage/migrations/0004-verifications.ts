import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { identity, ofMember, texts } from './columns.ts'

export const up = async (db: Kysely<Tables>): Promise<void> => {
  const { schema } = db
  const numbered = schema.createTable('verifications').addColumn('id', 'integer', identity)
  await texts(ofMember(numbered), 'request_id', 'kind', 'created_at', 'expires_at')
    .addColumn('key_id', 'integer', (column) => column.notNull())
    .addColumn('token_hash', 'text')
    .addColumn('spent_at', 'text')
    .addColumn('outcome', 'text')
    .addColumn('source', 'text')
    .execute()
  const index = (name: string) => schema.createIndex(`verifications_${name}`).on('verifications')
  await index('request').unique().column('request_id').execute()
  await index('token').unique().column('token_hash').execute()
  await index('member').columns(['user_id', 'org_id', 'id']).execute()
}
