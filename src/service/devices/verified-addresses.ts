import type { Call } from '../call/call.ts'
import type { Member } from '../call/tenant.ts'

/**
 * The addresses that a person verified in the app of this organization, then in that of the operator. Links go there, so an
 * address that another program wrote is none of them.
 */
export const readVerified = async ({ db, keyring }: Pick<Call, 'db' | 'keyring'>, member: Member) => {
  const accounts = await db
    .selectFrom('mobile_accounts')
    .where('user_id', '=', member.user_id)
    .where('org_id', 'in', [member.org_id, 0])
    .where('email_verified_at', 'is not', null)
    .selectAll()
    .orderBy('org_id', 'desc')
    .execute()
  return accounts.filter(
    (account): account is typeof account & { email: string; email_verified_at: string } =>
      account.email !== null && keyring.holds('mobile_accounts', account),
  )
}
