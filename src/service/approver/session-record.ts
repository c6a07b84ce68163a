import type { approver } from '../../contract/approver.ts'
import type { Call } from '../call/call.ts'
import { sessionOver } from '../call/caller.ts'
import type { RowData } from '../call/row-ids.ts'
import { activeDevices } from '../devices/active.ts'
import { readSite } from '../devices/site.ts'
import { wantsLocation } from '../policy/rules.ts'

/** Who stands at the page with a device. */
export const readSession = async (
  call: Call,
  device_id: number,
): Promise<RowData<typeof approver.getSession>> => {
  const { db, publicUrl, dev, pushKey } = call
  const { org_id, user_id, ...row } = await activeDevices(db, dev)
    .innerJoin('organizations as o', 'o.id', 'd.org_id')
    .leftJoin('push_subscriptions as p', 'p.device_id', 'd.id')
    .where('d.id', '=', device_id)
    .select([
      'd.org_id',
      'd.user_id',
      'm.first_name',
      'o.name as organization',
      'm.role',
      'd.id as device_id',
      'd.name as device_name',
      'd.credential_id',
      'p.device_id as subscribed',
    ])
    .executeTakeFirstOrThrow(sessionOver)
  return {
    ...row,
    subscribed: row.subscribed !== null,
    rp_id: (await readSite(db, publicUrl)).rp_id,
    wants_location: await wantsLocation(db, org_id, user_id),
    push_key: pushKey,
  }
}
