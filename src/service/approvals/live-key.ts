import { expressionBuilder } from 'kysely'
import type { Tables } from '../storage/schema.ts'

/** True of a request whose API key is neither revoked nor expired. Tool servers and local programs have the key 0. */
export const ofLiveKey = (now: string) => {
  const { eb, exists, or, selectFrom } = expressionBuilder<Tables, 'approvals'>()
  return or([
    eb('approvals.key_id', '=', 0),
    exists(
      selectFrom('api_keys as k')
        .whereRef('k.id', '=', 'approvals.key_id')
        .where('k.revoked_at', 'is', null)
        .where((key) => key.or([key('k.expires_at', 'is', null), key('k.expires_at', '>', now)]))
        .select('k.id'),
    ),
  ])
}
