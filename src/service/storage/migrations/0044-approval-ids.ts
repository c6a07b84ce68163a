import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { index } from './columns.ts'

/** For new and changed requests, which are listed in the order of their ids. */
export const up = ({ schema }: Kysely<Tables>): Promise<void> =>
  index(schema, 'approvals_org_id', 'approvals', ['org_id', 'id'])
