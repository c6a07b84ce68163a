import type { mobile } from '../../contract/mobile.ts'
import type { Call } from '../call.ts'
import { ensurePerson } from '../handlers/member.ts'
import { nationalNumber } from '../../rules/phone.ts'
import { parsePhone } from '../phone.ts'
import { later } from '../later.ts'
import { parseImei } from './imei.ts'
import { realmOf } from './person.ts'
import type { RowData, RowInput } from '../row-ids.ts'

// spec: not shown
const lifetimeMs = 24 * 60 * 60_000

/** What was not given stays as the account has it. */
export type Profile = {
  first_name: string
  last_name: string
  email?: string
  device_id?: string
  imei?: string
  platform?: string
  device_name?: string
}

/** Keeps a profile until its phone is confirmed, and touches nothing else. The newest of a number counts. */
export const register = async (
  { mobile: number, country_code, imei, ...input }: RowInput<typeof mobile.registerMobileUser>,
  call: Call,
): Promise<RowData<typeof mobile.registerMobileUser>> => {
  const phone = parsePhone(number, country_code)
  const profile: Profile = { ...input, ...(imei !== undefined && { imei: parseImei(imei).imei }) }
  const expires_at = later(call.now, lifetimeMs)
  // The id is there from now on, so that a token for it can be signed before the transaction that confirms it.
  const user_id = await ensurePerson(call, phone)
  const kept = { profile: JSON.stringify(profile), created_at: call.now, expires_at }
  await call.db
    .insertInto('registrations')
    .values({ ...kept, org_id: realmOf(call), user_id })
    .onConflict((on) => on.columns(['org_id', 'user_id']).doUpdateSet(kept))
    .execute()
  await call.audit(realmOf(call), 'registration')
  const { mobile: mobile_e164, country_code: prefix } = phone
  return { country_code: prefix, mobile: nationalNumber(phone), mobile_e164, expires_at }
}

/** What is to be confirmed, if it has not lapsed. */
export const findRegistration = async (
  { db, caller, now }: Pick<Call, 'db' | 'caller' | 'now'>,
  userId: number,
): Promise<Profile | undefined> => {
  const row = await db
    .selectFrom('registrations')
    .where('org_id', '=', realmOf({ caller }))
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .select('profile')
    .executeTakeFirst()
  return row && (JSON.parse(row.profile) as Profile)
}
