import { sql } from 'kysely'
import type { mobile } from '../../contract/mobile.ts'
import type { Call, Outside } from '../call.ts'
import { checkOtp } from '../otp.ts'
import { parsePhone } from '../phone.ts'
import { conflict, type Refusal } from '../refusal.ts'
import { sendLinkIfPossible } from './email-link.ts'
import { findAccount, findPerson, realmOf } from './person.ts'
import { findRegistration, type Profile } from './registration.ts'
import { signAccess, startFamily } from './tokens.ts'
import type { RowData, RowInput } from '../row-ids.ts'

type Tokens = RowData<typeof mobile.confirmRegistration>

const notRegistered = (): Refusal =>
  conflict(
    'not_registered',
    'The code was right, and nothing is registered under this number',
    'Register first, then have a new code sent: svc mobile register, svc mobile send-otp',
  )

/** Makes the account of a registration, or brings what it says into the account that is there. */
const activate = async (call: Call, user_id: number, profile: Profile): Promise<void> => {
  const { first_name, last_name, email = null, device_id = null, imei = null } = profile
  const { platform = null, device_name = null } = profile
  const optional = { email, device_id, imei, platform, device_name }
  await call.db
    .insertInto('mobile_accounts')
    .values({
      org_id: realmOf(call),
      user_id,
      first_name,
      last_name,
      ...optional,
      created_at: call.now,
      updated_at: call.now,
    })
    .onConflict((on) =>
      on.columns(['org_id', 'user_id']).doUpdateSet({
        first_name,
        last_name,
        ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)),
        // Anybody can register any number; an address that is proved changes with the profile alone.
        ...(email !== null && {
          email: sql<string>`case when mobile_accounts.email_verified_at is null then ${email}
            else mobile_accounts.email end`,
        }),
        updated_at: call.now,
      }),
    )
    .execute()
  await call.db
    .deleteFrom('registrations')
    .where('org_id', '=', realmOf(call))
    .where('user_id', '=', user_id)
    .execute()
}

/** Spends the code of a phone for its account. The registration may be gone by then; the account may not. */
export const prepareConfirmation = async (
  { mobile: number, country_code, otp }: RowInput<typeof mobile.confirmRegistration>,
  outside: Outside,
): Promise<(call: Call) => Promise<Tokens | Refusal>> => {
  const { caller, service } = outside
  const phone = parsePhone(number, country_code)
  const known = await service.storage.read((db) => findPerson({ db, caller }, { mobile: phone.mobile }))
  const access = known && (await signAccess(outside, known.user_id))
  return async (call) => {
    const wrong = await checkOtp(call, { org_id: realmOf(call), mobile: phone.mobile, otp })
    if (wrong) return wrong
    const person = await findPerson(call, { mobile: phone.mobile })
    const profile = person && (await findRegistration(call, person.user_id))
    const account = person && (await findAccount(call, person.user_id))
    // The code is spent either way.
    if (!access || person?.user_id !== access.user_id || !(profile ?? account)) return notRegistered()
    if (profile) await activate(call, person.user_id, profile)
    await call.audit(realmOf(call), `user:${person.user_id}`, profile ? ['account', 'sign-in'] : ['sign-in'])
    if (profile) await sendLinkIfPossible(call, person.user_id)
    return startFamily(call, access)
  }
}
