import type { Insertable, Selectable, SelectQueryBuilder, Updateable } from 'kysely'
import type { Credential } from '../../receipt/assertion.ts'
import type { Keyring } from '../call/keyring.ts'
import { requireNewId } from '../call/new-ids.ts'
import { type Db, newRow, type Tables } from '../storage/schema.ts'

// Every statement that writes `devices` is here: each keeps the MAC of a row valid, and none gives a MAC to a row that
// another program has changed.

type Devices = Tables['devices']
export type DeviceRow = Selectable<Devices>
type Deps = { db: Db; keyring: Pick<Keyring, 'macOf' | 'holds'> }
export type DeviceQuery = SelectQueryBuilder<Tables, 'devices', object>
type Values = Omit<Updateable<Devices>, 'id' | 'row_mac'>

/** Another program can put a device of another organization under the same id. */
const updateOf = (db: Db, { id, org_id }: DeviceRow) =>
  db.updateTable('devices').where('id', '=', id).where('org_id', '=', org_id)

/** Whether the service wrote this row and no other program has changed it. Only an authentic device counts. */
export const isAuthenticDevice = ({ keyring }: Pick<Deps, 'keyring'>, row: DeviceRow): boolean =>
  keyring.holds('devices', row)

const seal = async ({ db, keyring }: Deps, row: DeviceRow, values: Values): Promise<DeviceRow> => {
  const next = { ...row, ...values } as DeviceRow
  const row_mac = keyring.macOf('devices', next)
  await updateOf(db, row)
    .set({ ...values, row_mac })
    .execute()
  return { ...next, row_mac }
}

/** Adds a device; undefined if its credential is already registered. */
export const insertDeviceRow = async (
  deps: Deps,
  values: Omit<Insertable<Devices>, 'id' | 'row_mac'>,
): Promise<DeviceRow | undefined> => {
  const meant = newRow('devices', values)
  const added = await deps.db
    .insertInto('devices')
    .values(meant)
    .onConflict((of) => of.column('credential_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!added) return undefined
  await requireNewId(deps.db, 'device', added.id, meant.org_id)
  return seal(deps, { ...meant, ...added, row_mac: null }, meant)
}

/**
 * Changes the authentic devices that `where` finds, and returns them with their new values. Devices that another program
 * has changed stay as they are, except that they can be revoked and refused; they get no MAC.
 */
export const changeDeviceRows = async (
  deps: Deps,
  given: Values | ((proven: DeviceRow) => Values),
  where: (query: DeviceQuery) => DeviceQuery,
): Promise<DeviceRow[]> => {
  const { db } = deps
  const changed: DeviceRow[] = []
  for (const row of await where(db.selectFrom('devices')).selectAll().orderBy('id').execute()) {
    const values = typeof given === 'function' ? given(row) : given
    const isEnd = values.state === 'revoked' || values.state === 'refused'
    if (isAuthenticDevice(deps, row)) changed.push(await seal(deps, row, values))
    else if (isEnd) {
      await updateOf(db, row).set(values).execute()
      changed.push({ ...row, ...values } as DeviceRow)
    }
  }
  return changed
}

/** Changes columns that no decision relies on and no MAC covers. */
export const noteOnDevices = (
  db: Db,
  values: Pick<Updateable<Devices>, 'counter' | 'last_used_at' | 'backed_up' | 'name'>,
) => db.updateTable('devices').set(values)

/** Deletes registrations that were incomplete when a backup was made. The members register these devices again. */
export const forgetPendingDevices = async (db: Db): Promise<void> => {
  await db.deleteFrom('devices').where('state', '=', 'pending').execute()
}

/** The columns that a signature is verified with; no other column can get into a receipt. */
export const credentialOf = ({
  credential_id,
  public_key,
  algorithm,
  user_handle,
  counter,
}: DeviceRow): Credential => ({
  credential_id,
  public_key,
  algorithm,
  user_handle,
  counter,
})
