import { isAuthenticDevice } from '../devices/rows.ts'
import { isAuthenticKey } from '../keys/rows.ts'
import type { Db } from '../storage/schema.ts'
import type { Keyring } from './keyring.ts'
import { readSigningKeys } from './signing-keys.ts'

export type AlteredRow = {
  /** 0 for what belongs to the service itself. */
  org_id: number
  kind: 'device' | 'api_key' | 'signing_key'
  id: string
}

const alteredDevices = async (db: Db, keyring: Keyring, only: number | undefined): Promise<AlteredRow[]> => {
  const rows = await db
    .selectFrom('devices')
    .$if(only !== undefined, (own) => own.where('org_id', '=', only!))
    .selectAll()
    .orderBy('id')
    .execute()
  return rows
    .filter((row) => !isAuthenticDevice({ keyring }, row))
    .map(({ org_id, id }) => ({ org_id, kind: 'device', id: String(id) }))
}

const alteredKeys = async (db: Db, keyring: Keyring, only: number | undefined): Promise<AlteredRow[]> => {
  const rows = await db
    .selectFrom('api_keys')
    .$if(only !== undefined, (own) => own.where('org_id', '=', only!))
    .selectAll()
    .orderBy('id')
    .execute()
  return rows
    .filter((row) => !isAuthenticKey(keyring, row))
    .map(({ org_id, id }) => ({ org_id: org_id ?? 0, kind: 'api_key', id: String(id) }))
}

/**
 * Rows that the master key does not authenticate: another program wrote them, and the service does not use them. Those of
 * one organization, or all with what belongs to the service itself.
 */
export const findAlteredRows = async (db: Db, keyring: Keyring, only?: number): Promise<AlteredRow[]> => {
  const signing = only === undefined ? await readSigningKeys(db) : []
  return [
    ...signing
      .filter((row) => !keyring.holds('signing_keys', row))
      .map(({ kid }) => ({ org_id: 0, kind: 'signing_key' as const, id: kid })),
    ...(await alteredKeys(db, keyring, only)),
    ...(await alteredDevices(db, keyring, only)),
  ]
}
