import { addMs } from '../../core/iso-time.ts'
import { auditByService } from '../call/audit.ts'
import type { Call } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'
import type { CountedBy } from './active.ts'
import { settlePending } from './proof.ts'
import { changeDeviceRows } from './rows.ts'

type Clock = CountedBy & Pick<Call, 'now' | 'keyring'>

const pendingDevices = (db: Db, org_id: number) =>
  db.selectFrom('devices').where('org_id', '=', org_id).where('state', '=', 'pending')

/**
 * Restarts cooling periods that begin in the future, which a wrong clock wrote. They start again now at their full
 * length, so that a period becomes neither shorter nor endless.
 */
const restartAhead = async (clock: Clock, org_id: number): Promise<void> => {
  const { now } = clock
  await changeDeviceRows(
    clock,
    ({ approved_at, active_from }) => {
      const length = Math.max(0, Date.parse(active_from!) - Date.parse(approved_at!))
      return { approved_at: now, active_from: addMs(now, length) }
    },
    (rows) => rows.where('org_id', '=', org_id).where('state', '=', 'pending').where('approved_at', '>', now),
  )
}

/** Activates the devices of an organization whose cooling period is over. Inside a transaction. */
export const activateDue = async (clock: Clock, org_id: number): Promise<void> => {
  const { db, now } = clock
  await restartAhead(clock, org_id)
  const due = await pendingDevices(db, org_id)
    .where('approved_at', '<=', now)
    .where('active_from', '<=', now)
    .select(['id', 'user_id'])
    .orderBy('active_from')
    .orderBy('id')
    .execute()
  for (const { id, user_id } of due) {
    const [active] = await changeDeviceRows(clock, { state: 'active', bound_at: now }, (devices) =>
      devices
        .where('id', '=', id)
        .where('org_id', '=', org_id)
        // If another device of the same member has just become active, that one must approve this one.
        .where('state', '=', 'pending')
        .where('proof', '=', 'admin')
        .where('approved_at', '<=', now)
        .where('active_from', '<=', now),
    )
    if (!active) continue
    await settlePending(clock, { org_id, user_id })
    await auditByService(clock, now, {
      orgId: org_id,
      action: 'activateDevice',
      subject: `device:${id}`,
      changes: ['state'],
    })
  }
}

/** Ends cooling periods that are over, and restarts those in the future. Writes only if there are any. */
export const endCooling = async (service: Service): Promise<void> => {
  const { storage, keyring } = service
  const now = storage.now()
  const due = await storage.read((db) =>
    db
      .selectFrom('devices')
      .where('state', '=', 'pending')
      .where(({ or, and, eb }) =>
        or([and([eb('active_from', '<=', now), eb('approved_at', '<=', now)]), eb('approved_at', '>', now)]),
      )
      .select('org_id')
      .distinct()
      .orderBy('org_id')
      .execute(),
  )
  for (const { org_id: org } of due)
    await storage.write((db) => activateDue({ db, now: storage.now(), keyring, service }, org), { org })
}
