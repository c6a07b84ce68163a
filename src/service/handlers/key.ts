import { nothingAdded, readAddedByKey } from '../approvals/added.ts'
import { endAdded } from '../approvals/added-ending.ts'
import { revokeKeys } from '../approvals/key-revocation.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { withinOrganization } from '../call/tenant.ts'
import { keysBelow } from '../keys/ancestry.ts'
import { newestSecret, readCreatedKeys, readKeyDetails, readSecrets, whyNot } from '../keys/keys.ts'
import { changeKeyRows } from '../keys/rows.ts'
import { everyScope } from '../keys/scopes.ts'
import { inParts } from '../storage/in-parts.ts'
import type { Db } from '../storage/schema.ts'
import { isShared, lockOrganizations } from '../storage/transaction.ts'

export const getKey: HandlerOf<'getKey'> = async ({ id }, call) => ({
  ...(await readKeyDetails(call, id)),
  added: await readAddedByKey(call, id),
})

/** Locks the organizations of keys; true if one of them was not locked, so that keys may have been added meanwhile. */
const lockOrganizationsOf = async (db: Db, ids: readonly number[]): Promise<boolean> => {
  if (!isShared(db)) return false
  const keys = await inParts(ids, (some) =>
    db.selectFrom('api_keys').where('id', 'in', some).select('org_id').distinct().execute(),
  )
  return lockOrganizations(
    db,
    keys.map(({ org_id }) => org_id ?? 0),
  )
}

/** Those of the keys with which an operator could go on. */
const operatorKeysAmong = async (db: Db, ids: readonly number[]): Promise<number[]> => {
  const keys = await inParts(ids, (some) =>
    db
      .selectFrom('api_keys')
      .where('id', 'in', some)
      .where('org_id', 'is', null)
      .where('scopes', '=', everyScope)
      .select('id')
      .execute(),
  )
  return keys.map(({ id }) => id)
}

const findRevoked = ({ db, caller }: Call, id: number) =>
  db
    .selectFrom('api_keys')
    .where('id', '=', id)
    .where(withinOrganization(caller.orgId, 'org_id'))
    .where('revoked_at', 'is not', null)
    .selectAll()
    .executeTakeFirst()

export const revokeKey: HandlerOf<'revokeKey'> = async ({ id, with_added = false }, call) => {
  let below = await keysBelow(call.db, id)
  while (await lockOrganizationsOf(call.db, [id, ...below])) below = await keysBelow(call.db, id)
  const ending = await operatorKeysAmong(call.db, [id, ...below])
  const [revoked] = await changeKeyRows(call, { revoked_at: call.now }, (keys) =>
    keys
      .where('id', '=', id)
      .where(withinOrganization(call.caller.orgId, 'org_id'))
      .where('revoked_at', 'is', null)
      // The last operator key stays. One that expires does not count, because it locks the operator out later.
      .where(({ eb, or, exists, selectFrom }) =>
        or([
          eb('replaced', '=', 1),
          eb('org_id', 'is not', null),
          eb('scopes', '<>', everyScope),
          exists(
            selectFrom('api_keys as other')
              .select('other.id')
              .where('other.id', 'not in', [id, ...ending])
              .where('other.org_id', 'is', null)
              .where('other.scopes', '=', everyScope)
              .where('other.revoked_at', 'is', null)
              .where('other.expires_at', 'is', null),
          ),
        ]),
      ),
  )
  // What a revoked key added can still end with it.
  const row = revoked ?? (with_added ? await findRevoked(call, id) : undefined)
  if (!row) throw await whyNot(call, id, 'revoke')
  await call.audit(row.org_id ?? 0, `key:${id}`)
  const created = await readCreatedKeys(call, below)
  const secrets = row.replaced === 1 ? [] : await readSecrets(call, row)
  const ended_requests = await revokeKeys(call, below, [id])
  const newest_id = (await newestSecret(call, row)) ?? null
  const read = async () => {
    const { devices, agents, more } = await readAddedByKey(call, id)
    return { devices, agents, more }
  }
  // The key goes on under its newest secret, and so does what it added.
  const outcome = await endAdded(call, read, with_added && newest_id === null)
  if (!revoked && outcome.ended === nothingAdded) throw await whyNot(call, id, 'revoke')
  return {
    id,
    name: row.name,
    secrets: secrets.map((one) => one.id),
    ...created,
    ...outcome,
    ended_requests,
    newest_id,
  }
}
