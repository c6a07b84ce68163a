import { mostAdded } from '../../contract/added.ts'
import { conflict } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { revoke } from '../devices/transitions.ts'
import { keysBelow } from '../keys/ancestry.ts'
import { scopeMissing } from '../keys/scopes.ts'
import { lockOrganizations } from '../storage/transaction.ts'
import { type Added, nothingAdded } from './added.ts'
import { revokeKeys } from './key-revocation.ts'

/** A key needs the scope that ends each kind. A person at the approver page ends what is theirs. */
const checkScopes = ({ caller }: Call, { devices, agents }: Added): void => {
  if (caller.person) return
  if (devices.length > 0 && !caller.scopes.has('devices')) throw scopeMissing(caller, 'devices')
  if (agents.length > 0 && !caller.scopes.has('keys')) throw scopeMissing(caller, 'keys')
}

/**
 * Ends what a device or a key added, if the person chose that. `read` finds it, and runs again if another organization had to be
 * locked first. Returns what ended, and what still works.
 */
export const endAdded = async (
  call: Call,
  read: () => Promise<Added>,
  isChosen: boolean,
): Promise<{ ended: Added; remaining: Added }> => {
  let added = await read()
  const isNothing = added.devices.length + added.agents.length === 0
  if (!isChosen || isNothing) return { ended: nothingAdded, remaining: added }
  while (
    await lockOrganizations(
      call.db,
      added.devices.concat(added.agents).map(({ org_id }) => org_id),
    )
  )
    added = await read()
  if (added.more)
    throw conflict(
      'too_many_added',
      `More than ${mostAdded} devices and keys were added, and nothing was ended`,
      'Revoke it without them, then end them by person: svc user devices revoke, svc key revoke',
    )
  checkScopes(call, added)
  for (const { id, org_id } of added.devices) await revoke(call, { org_id, device_id: id })
  for (const { id } of added.agents) await revokeKeys(call, [id, ...(await keysBelow(call.db, id))])
  return { ended: added, remaining: nothingAdded }
}
