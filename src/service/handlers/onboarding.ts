import type { org } from '../../contract/org.ts'
import { randomToken, sha256 } from '../../core/ids.ts'
import type { Call, Handlers } from '../call.ts'
import { insertAuthCode } from './auth-code.ts'
import { insertKey } from './key.ts'
import { addMember } from './member.ts'
import { insertOrganization } from './org.ts'

const enrollmentMinutes = 10

/** A one-use link that registers a phone; the token stands behind the `#`, so that no server log holds it. */
const insertEnrollment = async (call: Call, orgId: number, userId: number) => {
  const token = randomToken()
  const expires_at = new Date(Date.parse(call.now) + enrollmentMinutes * 60_000).toISOString()
  await call.db
    .insertInto('enrollments')
    .values({ org_id: orgId, user_id: userId, token_hash: sha256(token), expires_at })
    .execute()
  return { url: `${call.publicUrl}/approver#enroll=${token}`, expires_at }
}

export const onboardingHandlers: Pick<Handlers<typeof org>, 'onboardOrganization'> = {
  // A write is one transaction: what fails on the way takes everything with it.
  onboardOrganization: async ({ name, slug, policy, ...profile }, call) => {
    const organization = await insertOrganization(call, { name, slug, policy })
    const admin = await addMember(call, organization.id, { ...profile, role: 'admin' })
    return {
      organization,
      admin,
      enrollment: await insertEnrollment(call, organization.id, admin.id),
      auth_code: await insertAuthCode(call, organization.id, { label: 'First auth code' }),
      api_key: await insertKey(call, 'first key', organization.id),
    }
  },
}
