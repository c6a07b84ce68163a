import { randomToken, sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { nationalNumber } from '../../factors/phone.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import type { RowInput } from '../call/row-ids.ts'
import { ofMember } from '../call/tenant.ts'
import { parseImei } from '../devices/imei.ts'
import { sendOneTimeCode } from '../devices/otp.ts'
import { ensurePerson } from '../members/member.ts'
import { accountScope, findAccount } from './person.ts'

type Deps = Pick<Call, 'db' | 'caller' | 'now'>

// spec: not shown
const lifetimeMs = 24 * 60 * 60_000

/** The details of a registration, as they become an account. */
type Profile = Omit<RowInput<'registerMobileUser'>, 'mobile' | 'country_code'>

/** For one number; the oldest is deleted. */
const mostRegistrations = 10

const selectRegistrations = (deps: Deps, userId: number) =>
  deps.db
    .selectFrom('registrations')
    .where(ofMember({ org_id: accountScope(deps), user_id: userId }))
    .orderBy('id', 'desc')

/**
 * Stores a profile until its phone is confirmed. Anybody can register any number, so each registration has its own token
 * and replaces no other, and an active account stays as it is. The answer is the same for every number.
 */
export const registerMobileUser: HandlerOf<'registerMobileUser'> = async (
  { mobile: number, country_code, imei, ...input },
  call,
) => {
  const phone = parsePhone(number, country_code)
  const profile: Profile = { ...input, ...(imei !== undefined && { imei: parseImei(imei).imei }) }
  const expires_at = addMs(call.now, lifetimeMs)
  const registration_token = randomToken()
  // The id exists from now on, so that a token for it can be signed before the transaction that confirms it.
  const user_id = await ensurePerson(call, phone, accountScope(call))
  if (!(await findAccount(call, user_id))) {
    const row = {
      org_id: accountScope(call),
      user_id,
      token_hash: sha256(registration_token),
      profile: JSON.stringify(profile),
      created_at: call.now,
      expires_at,
    }
    await call.db
      .insertInto('registrations')
      .values({ ...row, row_mac: call.keyring.macOf('registrations', row) })
      .execute()
    const surplus = await selectRegistrations(call, user_id)
      .select('id')
      .offset(mostRegistrations)
      .limit(1000)
      .execute()
    const ids = surplus.map(({ id }) => id)
    if (ids.length > 0) await call.db.deleteFrom('registrations').where('id', 'in', ids).execute()
  }
  await call.audit(accountScope(call), 'registration')
  const { mobile: mobile_e164, country_code: prefix } = phone
  return {
    country_code: prefix,
    mobile: nationalNumber(phone),
    mobile_e164,
    registration_token,
    expires_at,
  }
}

const unexpired = (deps: Deps, userId: number) =>
  selectRegistrations(deps, userId).where('expires_at', '>', deps.now)

export const isRegistered = async (deps: Deps, userId: number): Promise<boolean> =>
  (await unexpired(deps, userId).select('id').limit(1).executeTakeFirst()) !== undefined

/** The registration of the token; without a token, the one profile that all registrations of the number agree on. */
export const findRegistration = async (
  deps: Deps & Pick<Call, 'keyring'>,
  userId: number,
  token: string | undefined,
): Promise<Profile | 'none' | 'several'> => {
  const rows = await unexpired(deps, userId)
    .$if(token !== undefined, (query) => query.where('token_hash', '=', sha256(token!)))
    .selectAll()
    .execute()
  // One that another program wrote is none.
  const own = rows.filter((row) => deps.keyring.holds('registrations', row))
  const [profile, ...others] = new Set(own.map((row) => row.profile))
  if (profile === undefined) return 'none'
  return others.length > 0 ? 'several' : (JSON.parse(profile) as Profile)
}

export const deleteRegistrations = async (deps: Deps, userId: number): Promise<void> => {
  await deps.db
    .deleteFrom('registrations')
    .where(ofMember({ org_id: accountScope(deps), user_id: userId }))
    .execute()
}

export const sendOtp: HandlerOf<'sendOtp'> = (input, call) =>
  sendOneTimeCode(call, {
    org_id: accountScope(call),
    mobile: parsePhone(input.mobile, input.country_code).mobile,
  })
