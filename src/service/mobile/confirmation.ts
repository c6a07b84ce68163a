import type { mobile } from '../../contract/mobile.ts'
import { conflict, type Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf, Outside } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import type { RowData, RowInput } from '../call/row-ids.ts'
import { checkOtp } from '../devices/otp.ts'
import { erasePeople } from '../members/erasure.ts'
import { sendLinkIfPossible } from './email-link.ts'
import { accountScope, findAccount, findPerson } from './person.ts'
import { findRegistration, forgetRegistrations, type Profile } from './registration.ts'
import { signAccess, startFamily } from './tokens.ts'

type Tokens = RowData<typeof mobile.confirmRegistration>

const notRegistered = (): Refusal =>
  conflict(
    'not_registered',
    'The code is correct, but nobody is registered with this number',
    'Register first, then request a new code: svc mobile register, svc mobile send-otp',
  )

const registeredTwice = (): Refusal =>
  conflict(
    'registered_twice',
    'This number was registered more than once, with different details, so none of them was confirmed',
    'Register again and confirm with a new code; or send the registration_token of your registration: svc mobile confirm --registration-token-file FILE',
  )

/** Makes the account of a registration. */
const activate = async (call: Call, user_id: number, profile: Profile): Promise<void> => {
  const { first_name, last_name, email = null, device_id = null, imei = null } = profile
  const { platform = null, device_name = null } = profile
  await call.db
    .insertInto('mobile_accounts')
    .values({
      org_id: accountScope(call),
      user_id,
      first_name,
      last_name,
      email,
      device_id,
      imei,
      platform,
      device_name,
      created_at: call.now,
      updated_at: call.now,
    })
    .execute()
}

/** Spends the code of a phone for its account. The registration may be gone by then; the account may not. */
export const prepareConfirmation = async (
  { mobile: number, country_code, otp, registration_token }: RowInput<typeof mobile.confirmRegistration>,
  outside: Outside,
): Promise<(call: Call) => Promise<Tokens | Refusal>> => {
  const { caller, service } = outside
  const phone = parsePhone(number, country_code)
  const known = await service.storage.read((db) => findPerson({ db, caller }, { mobile: phone.mobile }))
  const access = known && (await signAccess(outside, known.user_id))
  return async (call) => {
    const wrong = await checkOtp(call, { org_id: accountScope(call), mobile: phone.mobile, otp })
    if (wrong) return wrong
    const person = await findPerson(call, { mobile: phone.mobile })
    // The code is spent either way.
    if (!access || person?.user_id !== access.user_id) return notRegistered()
    const { user_id } = person
    if (await findAccount(call, user_id)) {
      await forgetRegistrations(call, user_id)
      await call.audit(accountScope(call), `user:${user_id}`, ['sign-in'])
      return startFamily(call, access)
    }
    const profile = await findRegistration(call, user_id, registration_token)
    if (profile === 'none') return notRegistered()
    await forgetRegistrations(call, user_id)
    if (profile === 'several') {
      // Whoever has the code owns the phone, and starts again with nothing that somebody else registered.
      await erasePeople(call, [user_id])
      await call.audit(accountScope(call), 'registration', ['deleted'])
      return registeredTwice()
    }
    await activate(call, user_id, profile)
    await call.audit(accountScope(call), `user:${user_id}`, ['account', 'sign-in'])
    await sendLinkIfPossible(call, user_id)
    return startFamily(call, access)
  }
}

export const confirmRegistration: HandlerOf<typeof mobile.confirmRegistration> = {
  before: prepareConfirmation,
}
