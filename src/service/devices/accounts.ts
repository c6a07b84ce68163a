import type { Call } from '../call/call.ts'
import type { Member } from '../call/tenant.ts'

/**
 * The accounts of a person in the app of this organization, then in that of the operator. What they say decides about links and
 * phones, so one that another program wrote is none of them.
 */
export const readAccounts = async ({ db, keyring }: Pick<Call, 'db' | 'keyring'>, member: Member) => {
  const accounts = await db
    .selectFrom('mobile_accounts')
    .where('user_id', '=', member.user_id)
    .where('org_id', 'in', [member.org_id, 0])
    .selectAll()
    .orderBy('org_id', 'desc')
    .execute()
  return accounts.filter((account) => keyring.holds('mobile_accounts', account))
}

/** The addresses that a person verified there, in this order. */
export const readVerified = async (call: Pick<Call, 'db' | 'keyring'>, member: Member) =>
  (await readAccounts(call, member)).filter(
    (account): account is typeof account & { email: string; email_verified_at: string } =>
      account.email !== null && account.email_verified_at !== null,
  )
