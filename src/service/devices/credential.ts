import type { Selectable } from 'kysely'
import type { Credential } from '../../receipt/assertion.ts'
import type { Tables } from '../storage/schema.ts'

export type DeviceRow = Selectable<Tables['devices']>

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
