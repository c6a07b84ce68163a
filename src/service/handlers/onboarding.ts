import type { HandlerOf } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { insertEnrollment } from '../devices/enrollment.ts'
import { requireNewestSecret } from '../keys/ancestry.ts'
import { insertKey } from '../keys/keys.ts'
import { everyScope } from '../keys/scopes.ts'
import { insertAuthCode } from '../members/auth-codes.ts'
import { addMember } from '../members/member.ts'
import { insertOrganization } from '../members/organization.ts'

export const onboardOrganization: HandlerOf<'onboardOrganization'> = async (
  { name, slug, policy, ...profile },
  call,
) => {
  await requireNewestSecret(call)
  const organization = await insertOrganization(call, { name, slug, policy })
  const org_id = organization.id
  const admin = await addMember(call, org_id, { ...profile, role: 'admin' }, { first: true })
  const { url, expires_at } = await insertEnrollment(call, { org_id, user_id: admin.id })
  return {
    organization,
    admin,
    enrollment: { url, expires_at },
    auth_code: await insertAuthCode(call, org_id, { label: 'First auth code' }),
    // A client that knows only the specification has one key, so this key has every scope.
    api_key: await insertKey(call, {
      name: 'first key',
      org_id,
      scopes: everyScope,
      created_by: namedKeyOf(call.caller),
    }),
  }
}
