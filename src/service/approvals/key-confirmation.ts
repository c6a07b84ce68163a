import { conflict, notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { withinOrganization } from '../call/tenant.ts'
import { peopleText } from './people-text.ts'
import { checkOwner, rootOf } from '../keys/ancestry.ts'
import { demandConsent, keyRecord, selectKeys } from '../keys/keys.ts'
import { changeKeyRows, isAuthenticKey, isLive, keyNotAuthentic, inOrganization } from '../keys/rows.ts'
import { readScopes } from '../keys/scopes.ts'

const readOwned = async (call: Call, id: number) => {
  const row = await call.db
    .selectFrom('api_keys')
    .where('id', '=', id)
    .where(withinOrganization(call.caller.orgId, 'org_id'))
    .where(isLive(call.now))
    .selectAll()
    .executeTakeFirstOrThrow(() => notFound('Key'))
  if (!isAuthenticKey(call.keyring, row)) throw keyNotAuthentic(id)
  const { org_id, owner_user_id } = row
  if (org_id === null || owner_user_id === null)
    throw conflict(
      'key_without_owner',
      `The key ${row.name} ${org_id === null ? 'is for the whole service, so it cannot have an owner' : 'has no owner'}`,
      'Create a key of an organization with an owner: svc key create --name NAME --can ask --owner ID --org ORG',
    )
  return { row, org_id, owner: { org_id, user_id: owner_user_id } }
}

/** What the owner of a key reads before they confirm it. */
export const ownedKeyText = async (call: Call, id: number) => {
  const { row, owner } = await readOwned(call, id)
  const [text] = await peopleText(call, owner.org_id, [owner.user_id])
  return { name: row.name, scopes: [...readScopes(row.scopes)], owner: text }
}

/**
 * Records that the owner of a key confirmed it. Only that person's own yes does, whoever calls: a confirmed owner cannot
 * approve what the key requests on the line of a group.
 */
export const confirmKeyOwner: HandlerOf<'confirmKeyOwner'> = async ({ id }, call) => {
  const { row, org_id, owner } = await readOwned(call, id)
  await checkOwner(call, org_id, owner.user_id)
  demandConsent(call, org_id, { person: owner.user_id, separated: true })
  await changeKeyRows(call, { owner_confirmed_at: call.now }, (keys) =>
    keys
      .where(inOrganization(org_id))
      .where((where) => where.or([where('id', '=', rootOf(row)), where('lineage', '=', rootOf(row))])),
  )
  await call.audit(org_id, `key:${id}`)
  return keyRecord(await selectKeys(call).where('id', '=', id).executeTakeFirstOrThrow())
}
