import { addMs } from '../../core/iso-time.ts'
import { conflict, notFound } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { withinOrganization } from '../call/tenant.ts'
import { checkExpiry, checkGrant, checkRotation, requireNewestSecret } from '../keys/ancestry.ts'
import { insertKey, readSecrets, whyNot } from '../keys/keys.ts'
import { changeKeyRows, isAuthenticKey, keyNotAuthentic, isLive, inOrganization } from '../keys/rows.ts'
import { readScopes } from '../keys/scopes.ts'
import { revokeKeys } from './key-revocation.ts'

const day = 86_400
const mostOlder = 10

/** Adds a secret to a key. No older secret works longer than the overlap; without one, all are revoked. */
export const rotateKey: HandlerOf<'rotateKey'> = async ({ id, overlap_s = day }, call) => {
  await requireNewestSecret(call)
  const old = await call.db
    .selectFrom('api_keys')
    .where('id', '=', id)
    .where(withinOrganization(call.caller.orgId, 'org_id'))
    .selectAll()
    .executeTakeFirstOrThrow(() => notFound('Key'))
  if (!isAuthenticKey(call.keyring, old)) throw keyNotAuthentic(id)
  await checkRotation(call, old)
  // Another secret would outlive what its person consented to, or work elsewhere.
  if (old.client_id !== null)
    throw conflict(
      'key_of_agent',
      'This is the key of an agent or a terminal, which only the consent of a person renews',
      `Connect the agent again, or sign in again: svc profile login. To end it: svc key revoke ${id}`,
    )
  const until = addMs(call.now, overlap_s * 1000)
  const expires_at = old.expires_at !== null && old.expires_at < until ? old.expires_at : until
  const older = await readSecrets(call, old)
  const [replaced] = await changeKeyRows(call, { replaced: 1, expires_at }, (keys) =>
    keys
      .where('id', '=', id)
      .where(inOrganization(old.org_id))
      .where('replaced', '=', 0)
      .where(isLive(call.now)),
  )
  if (!replaced) throw await whyNot(call, id, 'rotate')
  if (overlap_s > 0 && older.length >= mostOlder)
    throw conflict(
      'too_many_secrets',
      `The key already has ${mostOlder} older secrets that work`,
      `svc key rotate ${id} --overlap 0 ends them`,
    )
  // The caller gets the new secret, so it must not have more rights than the caller.
  checkGrant(call.caller, readScopes(old.scopes))
  checkExpiry(call, old.expires_at ?? undefined)
  await call.audit(old.org_id ?? 0, `key:${id}`, ['expires_at'])
  const {
    name,
    org_id,
    scopes,
    owner_user_id,
    owner_confirmed_at,
    owner_left_at,
    created_by,
    consented_with,
    person_key,
    lineage,
  } = old
  const made = await insertKey(call, {
    name,
    org_id,
    scopes,
    expires_at: old.expires_at,
    owner_user_id,
    owner_confirmed_at,
    owner_left_at,
    created_by,
    consented_with,
    person_key,
    lineage: lineage ?? id,
  })
  if (overlap_s === 0) await revokeKeys(call, [...older.map((one) => one.id), id])
  else
    for (const { id: earlier, org_id: owner } of await changeKeyRows(call, { expires_at }, (keys) =>
      keys
        .where('id', 'in', [...older.map((one) => one.id), 0])
        .where(inOrganization(org_id))
        .where('replaced', '=', 1)
        .where('expires_at', '>', expires_at),
    ))
      await call.audit(owner ?? 0, `key:${earlier}`, ['expires_at'])
  return { ...made, older_secrets: await readSecrets(call, { id: made.id, lineage: lineage ?? id, org_id }) }
}
