import type { org } from '../../contract/org.ts'
import type { Handlers } from '../call/call.ts'
import { insertEnrollment } from '../devices/enrollment.ts'
import { everyScope } from '../keys/scopes.ts'
import { addMember } from '../members/member.ts'
import { insertOrganization } from '../members/organization.ts'
import { insertAuthCode } from './auth-code.ts'
import { creatorOf, insertKey } from './key.ts'

export const onboardingHandlers: Pick<Handlers<typeof org>, 'onboardOrganization'> = {
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
        created_by: creatorOf(call),
      }),
    }
  },
}
