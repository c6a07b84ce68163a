import { addMs } from '../../core/iso-time.ts'
import { auditByService } from '../call/audit.ts'
import type { Call } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'
import { settlePending } from './proof.ts'
import { changeDeviceRows } from './rows.ts'

type Clock = Pick<Call, 'db' | 'now' | 'dev' | 'keyring'>

const lengthOf = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from))

/**
 * A cooling period that began in the future was started by a clock that was wrong. It begins again now, at its full
 * length: it gets neither shorter nor endless.
 */
const restartAhead = async (clock: Clock, org_id: number): Promise<void> => {
  const { db, now } = clock
  const devices = await db
    .selectFrom('devices')
    .where('state', '=', 'pending')
    .where('approved_at', '>', now)
    .where('org_id', '=', org_id)
    .select(['id', 'approved_at', 'active_from'])
    .execute()
  for (const { id, approved_at, active_from } of devices)
    await changeDeviceRows(
      clock,
      { approved_at: now, active_from: addMs(now, lengthOf(approved_at!, active_from!)) },
      (rows) => rows.where('id', '=', id).where('org_id', '=', org_id),
    )
}

const dueDevices = (db: Db, now: string, org_id: number) =>
  db
    .selectFrom('devices')
    .where('state', '=', 'pending')
    .where('approved_at', '<=', now)
    .where('active_from', '<=', now)
    .where('org_id', '=', org_id)
    .select(['id', 'org_id', 'user_id'])
    .orderBy('active_from')
    .orderBy('id')

/** Makes active each device of an organization whose cooling period is over and that nobody refused. Inside a transaction. */
export const activateDue = async (clock: Clock, org_id: number): Promise<void> => {
  const { db, now } = clock
  await restartAhead(clock, org_id)
  for (const { id, ...member } of await dueDevices(db, now, org_id).execute()) {
    const [active] = await changeDeviceRows(clock, { state: 'active', bound_at: now }, (devices) =>
      devices
        .where('id', '=', id)
        .where('org_id', '=', member.org_id)
        // Another of the same member may just have become active: this one then needs its approval.
        .where('state', '=', 'pending')
        .where('proof', '=', 'admin')
        .where('active_from', '<=', now),
    )
    if (!active) continue
    await settlePending(clock, member)
    await auditByService(db, now, {
      orgId: member.org_id,
      action: 'activateDevice',
      subject: `device:${id}`,
      changes: ['state'],
    })
  }
}

/** The organizations that have such devices, or some that began in the future. */
const dueOrganizations = (db: Db, now: string) =>
  db
    .selectFrom('devices')
    .where('state', '=', 'pending')
    .where(({ or, and, eb }) =>
      or([and([eb('active_from', '<=', now), eb('approved_at', '<=', now)]), eb('approved_at', '>', now)]),
    )
    .select('org_id')
    .distinct()
    .orderBy('org_id')
    .execute()

/** Ends cooling periods that are over. Writes only when there are some. */
export const endCooling = async ({ storage, dev, keyring }: Service): Promise<void> => {
  for (const { org_id } of await storage.read((db) => dueOrganizations(db, storage.now())))
    await storage.write((db) => activateDue({ db, now: storage.now(), dev, keyring }, org_id), {
      org: org_id,
    })
}
