import { conflict, type Refusal } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { checkOtp } from '../devices/otp.ts'
import { erasePeople } from '../members/erasure.ts'
import { sendLinkIfPossible } from './email-link.ts'
import { accountScope, findAccount, findPerson } from './person.ts'
import { deleteRegistrations, findRegistration } from './registration.ts'
import { signAccess, startFamily } from './tokens.ts'
import { newRow } from '../storage/schema.ts'
import { lockNumbers } from '../storage/transaction.ts'

const notRegistered = (): Refusal =>
  conflict(
    'not_registered',
    'The code is correct, but no one is registered with this number',
    'Register first, then request a new code: svc mobile register, svc mobile send-otp',
  )

/** Uses up the code of a phone. It confirms a registration, or signs in to an account that no longer has one. */
export const confirmRegistration: HandlerOf<'confirmRegistration'> = {
  before: async ({ mobile: number, country_code, otp, registration_token }, outside) => {
    const { caller, service } = outside
    const phone = parsePhone(number, country_code)
    const known = await service.storage.read((db) =>
      findPerson({ db, caller, keyring: service.keyring }, { mobile: phone.mobile }),
    )
    const access = known && (await signAccess(outside, known.user_id))
    return async (call) => {
      // The registration keeps this person only until the account does.
      await lockNumbers(call.db, [phone.mobile])
      const org_id = accountScope(call)
      const wrong = await checkOtp(call, { org_id, mobile: phone.mobile, otp })
      if (wrong) return wrong
      const person = await findPerson(call, { mobile: phone.mobile })
      // A refusal is returned from here on, so that the code stays used.
      if (!access || person?.user_id !== access.user_id) return notRegistered()
      const { user_id } = person
      if (await findAccount(call, user_id)) {
        await deleteRegistrations(call, user_id)
        await call.audit(org_id, `user:${user_id}`, ['sign-in'])
        return startFamily(call, access)
      }
      const profile = await findRegistration(call, user_id, registration_token)
      if (profile === 'none') return notRegistered()
      await deleteRegistrations(call, user_id)
      if (profile === 'several') {
        // The owner of the phone starts again, without anything that somebody else registered.
        await erasePeople(call, [user_id])
        await call.audit(org_id, 'registration', ['deleted'])
        return conflict(
          'registered_twice',
          'This number was registered more than once, with different details, so none of them was confirmed',
          'Register again and confirm with a new code; or send the registration_token of your registration: svc mobile confirm --registration-token-file FILE',
        )
      }
      const { email = null, device_id = null, imei = null, platform = null, device_name = null } = profile
      const details = { ...profile, email, device_id, imei, platform, device_name }
      const times = { created_at: call.now, updated_at: call.now }
      const account = newRow('mobile_accounts', { ...details, org_id, user_id, ...times })
      await call.db
        .insertInto('mobile_accounts')
        .values({ ...account, row_mac: call.keyring.macOf('mobile_accounts', account) })
        .execute()
      await call.audit(org_id, `user:${user_id}`, ['account', 'sign-in'])
      await sendLinkIfPossible(call, user_id)
      return startFamily(call, access)
    }
  },
}
