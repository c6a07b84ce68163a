import type { device } from '../../contract/device.ts'
import type { HandlerOf } from '../call/call.ts'
import { ofActiveDevice } from '../devices/active.ts'
import { isAuthenticDevice } from '../devices/rows.ts'
import { readSite } from '../devices/site.ts'
import { requiresLocation } from '../policy/rules.ts'
import { readSettled } from './decision-waiter.ts'
import { alreadyEnded } from './finish.ts'
import { answeredSubject, contextsOf, approvalAccess } from './record.ts'

export const getCeremony: HandlerOf<typeof device.getCeremony> = {
  before: async ({ request_id }, { service, caller }) => {
    const row = await readSettled(service, request_id, approvalAccess(caller))
    if (row.status !== 'pending') throw alreadyEnded(row)
    return async (call) => {
      const devices = await call.db
        .selectFrom('devices')
        .where('org_id', '=', row.org_id)
        .where('user_id', '=', row.user_id)
        .where(ofActiveDevice('devices'))
        .$if(!call.dev, (query) => query.where('kind', '=', 'phone'))
        .selectAll()
        .orderBy('id')
        .execute()
      return {
        request_id,
        ...(await readSite(call.db, call.publicUrl)),
        contexts: contextsOf(row),
        credentials: devices.filter((one) => isAuthenticDevice(call, one)).map((one) => one.credential_id),
        number_required: row.number !== null,
        verified_as: row.verified_as,
        subject: answeredSubject(row),
        location_required: await requiresLocation(call.db, row),
      }
    }
  },
}
