import type { HandlerOf } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import { keyRecord, selectKeys } from './keys.ts'

const shownIdp = ['provider', 'client_id', 'updated_at'] as const

export const getApiCredentials: HandlerOf<'getApiCredentials'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const keys = await selectKeys(call).where('org_id', '=', org_id).orderBy('id').execute()
  const idp = await call.db
    .selectFrom('idp_credentials')
    .where('org_id', '=', org_id)
    .select(shownIdp)
    .executeTakeFirst()
  return { api_keys: keys.map(keyRecord), idp: idp ? { ...idp, client_secret_set: true } : null }
}

export const setIdpCredentials: HandlerOf<'setIdpCredentials'> = async (
  { org_id, provider, client_id, client_secret },
  call,
) => {
  await reachOrganization(call, org_id)
  const values = {
    provider,
    client_id,
    wrapped_secret: call.keyring.wrap(client_secret, `idp_credentials:${org_id}`),
    updated_at: call.now,
  }
  const row = await call.db
    .insertInto('idp_credentials')
    .values({ org_id, ...values })
    .onConflict((of) => of.column('org_id').doUpdateSet(values))
    .returning(shownIdp)
    .executeTakeFirstOrThrow()
  await call.audit(org_id, `organization:${org_id}`)
  return { ...row, client_secret_set: true }
}
