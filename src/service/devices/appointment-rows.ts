import type { Selectable } from 'kysely'
import type { Keyring } from '../call/keyring.ts'
import { type Member, ofMember } from '../call/tenant.ts'
import type { Db, Tables } from '../storage/schema.ts'

// Who made a member an administrator, each time. What they added is judged by who had appointed them then, so none is forgotten.

type Row = Selectable<Tables['appointments']>
type Appointment = Pick<Row, 'by_key' | 'by_device' | 'appointed_at'>

/** What is recorded instead of a row that another program has changed. */
const unknown: Appointment = { by_key: null, by_device: null, appointed_at: '' }

type Deps = { db: Db; keyring: Pick<Keyring, 'holds'> }

/** All appointments of a member, oldest first. */
export const readAppointments = async ({ db, keyring }: Deps, member: Member): Promise<Appointment[]> => {
  const row = await db.selectFrom('appointments').where(ofMember(member)).selectAll().executeTakeFirst()
  if (!row) return []
  if (!keyring.holds('appointments', row)) return [unknown]
  const { earlier, by_key, by_device, appointed_at } = row
  return [...(JSON.parse(earlier) as Appointment[]), { by_key, by_device, appointed_at }]
}

/** Who had appointed a member when they acted; without `until`, who did last. Undefined if that is not known. */
export const findAppointment = async (
  deps: Deps,
  { until, ...member }: Member & { until?: string | undefined },
): Promise<Appointment | undefined> => {
  const all = await readAppointments(deps, member)
  if (until === undefined) return all.at(-1)
  // They acted as an administrator, so an appointment that seems to be later was recorded by a clock that was ahead.
  return all.findLast(({ appointed_at }) => appointed_at <= until) ?? all[0]
}
