import type { org } from '../../contract/org.ts'
import type { Handlers } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { insertEnrollment } from '../devices/enrollment.ts'
import { getApiCredentials, setIdpCredentials } from '../keys/credentials.ts'
import { insertKey } from '../keys/keys.ts'
import { everyScope } from '../keys/scopes.ts'
import { insertAuthCode } from '../members/auth-codes.ts'
import { addMember } from '../members/member.ts'
import {
  deleteOrganization,
  insertOrganization,
  listOrganizations,
  readOrganization,
  updateOrganization,
} from '../members/organization.ts'

export const orgHandlers: Handlers<typeof org> = {
  listOrganizations: (_, call) => listOrganizations(call),
  getOrganization: ({ orgIdOrSlug }, call) => readOrganization(call, orgIdOrSlug),
  createOrganization: (input, call) => insertOrganization(call, input),
  updateOrganization: (input, call) => updateOrganization(call, input),
  deleteOrganization: ({ org_id }, call) => deleteOrganization(call, org_id),
  getApiCredentials,
  setIdpCredentials,

  // A write is one transaction: what fails on the way takes everything with it.
  onboardOrganization: async ({ name, slug, policy, ...profile }, call) => {
    const organization = await insertOrganization(call, { name, slug, policy })
    const admin = await addMember(call, organization.id, { ...profile, role: 'admin' }, { first: true })
    const { url, expires_at } = await insertEnrollment(call, organization.id, admin.id)
    return {
      organization,
      admin,
      enrollment: { url, expires_at },
      auth_code: await insertAuthCode(call, organization.id, { label: 'First auth code' }),
      // A client that knows only the specification has one key.
      api_key: await insertKey(call, {
        name: 'first key',
        org_id: organization.id,
        scopes: everyScope,
        created_by: namedKeyOf(call.caller),
      }),
    }
  },
}
