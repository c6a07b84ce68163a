import { sha256 } from '../../core/ids.ts'
import type { Call } from '../call/call.ts'
import { type DeviceRow, isAuthenticDevice } from './rows.ts'

/**
 * The device that was registered with this token, if it has this credential. A registration that is repeated because its
 * answer was lost finds it; any other key finds nothing.
 */
export const findRegistered = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  token: string,
  credential_id: string,
  public_key?: string,
): Promise<DeviceRow | undefined> => {
  const row = await db
    .selectFrom('enrollments as e')
    .innerJoin('devices as d', (join) =>
      join
        .onRef('d.org_id', '=', 'e.org_id')
        .onRef('d.user_id', '=', 'e.user_id')
        .onRef('d.registered_at', '=', 'e.used_at'),
    )
    .where('e.token_hash', '=', sha256(token))
    .where('d.credential_id', '=', credential_id)
    .$if(public_key !== undefined, (query) => query.where('d.public_key', '=', public_key!))
    .selectAll('d')
    .executeTakeFirst()
  return row && isAuthenticDevice({ keyring }, row) ? row : undefined
}
