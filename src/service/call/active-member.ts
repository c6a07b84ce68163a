import { expressionBuilder, sql } from 'kysely'
import type { Tables } from '../storage/schema.ts'

/** True of a row whose user is an active member of its organization: seen by the statement itself, whatever changed. */
export const ofActiveMember = (table: 'approvals' | 'enrollments' | 'verifications') => {
  const { exists, selectFrom } = expressionBuilder<Tables>()
  return exists(
    selectFrom('memberships as m')
      .where('m.org_id', '=', sql.ref<number>(`${table}.org_id`))
      .where('m.user_id', '=', sql.ref<number>(`${table}.user_id`))
      .where('m.state', '=', 'active')
      .select('m.id'),
  )
}
