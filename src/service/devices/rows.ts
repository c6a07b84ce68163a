import type { Insertable, Selectable, SelectQueryBuilder, Updateable } from 'kysely'
import type { Credential } from '../../receipt/assertion.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Db, Tables } from '../storage/schema.ts'

// Every statement that writes `devices` is here, so that none leaves a row whose MAC no longer holds, and none gives a MAC to
// a row that another program has changed.

type Devices = Tables['devices']
export type DeviceRow = Selectable<Devices>
type Deps = { db: Db; keyring: Pick<Keyring, 'macOf' | 'holds'> }
export type DeviceQuery = SelectQueryBuilder<Tables, 'devices', object>
type Values = Omit<Updateable<Devices>, 'id' | 'row_mac'>

/** Whether the service wrote this device, and nobody else has changed it since. Only then does it count for anything. */
export const isAuthenticDevice = ({ keyring }: Pick<Deps, 'keyring'>, row: DeviceRow): boolean =>
  keyring.holds('devices', row)

const seal = async ({ db, keyring }: Deps, row: DeviceRow, values: Values): Promise<DeviceRow> => {
  const next = { ...row, ...values } as DeviceRow
  const row_mac = keyring.macOf('devices', next)
  await db
    .updateTable('devices')
    .set({ ...values, row_mac })
    .where('id', '=', row.id)
    .execute()
  return { ...next, row_mac }
}

/** Adds a device; undefined where its credential is known already. */
export const insertDeviceRow = async (
  deps: Deps,
  values: Omit<Insertable<Devices>, 'id' | 'row_mac'>,
): Promise<DeviceRow | undefined> => {
  const row = await deps.db
    .insertInto('devices')
    .values(values)
    .onConflict((of) => of.column('credential_id').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && seal(deps, row, {})
}

const select = ({ db }: Deps, where: (query: DeviceQuery) => DeviceQuery): Promise<DeviceRow[]> =>
  where(db.selectFrom('devices')).selectAll().orderBy('id').execute()

/** Changes the authentic devices that `where` finds, and answers them as they are now. */
export const changeDeviceRows = async (
  deps: Deps,
  values: Values,
  where: (query: DeviceQuery) => DeviceQuery,
): Promise<DeviceRow[]> => {
  const changed: DeviceRow[] = []
  for (const row of await select(deps, where))
    if (isAuthenticDevice(deps, row)) changed.push(await seal(deps, row, values))
  return changed
}

/** As `changeDeviceRows`, for what ends devices: one that another program has changed ends too, and stays without a MAC. */
export const endDeviceRows = async (
  deps: Deps,
  values: Values & { state: 'revoked' | 'refused' },
  where: (query: DeviceQuery) => DeviceQuery,
): Promise<DeviceRow[]> => {
  const ended: DeviceRow[] = []
  for (const row of await select(deps, where)) {
    if (isAuthenticDevice(deps, row)) ended.push(await seal(deps, row, values))
    else {
      await deps.db.updateTable('devices').set(values).where('id', '=', row.id).execute()
      ended.push({ ...row, ...values } as DeviceRow)
    }
  }
  return ended
}

/** What each use changes, and what a person called it: no decision relies on either, and no MAC covers them. */
export const noteOnDevices = (
  db: Db,
  values: Pick<Updateable<Devices>, 'counter' | 'last_used_at' | 'name'>,
) => db.updateTable('devices').set(values)

/** A registration that was under way when a backup was made. Its member registers the device again. */
export const forgetPendingDevices = async (db: Db): Promise<void> => {
  await db.deleteFrom('devices').where('state', '=', 'pending').execute()
}

/** What a signature of the device is checked against. */
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
