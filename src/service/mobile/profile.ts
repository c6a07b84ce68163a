import type { Selectable } from 'kysely'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields } from '../call/input.ts'
import type { RowData } from '../call/row-ids.ts'
import { ofMember } from '../call/tenant.ts'
import type { Tables } from '../storage/schema.ts'
import { storeChanged } from '../storage/store-changed.ts'
import { parseImei, samePhone } from '../devices/imei.ts'
import { notifyNewAddress } from '../devices/notices.ts'
import { sendLinkIfPossible } from './email-link.ts'
import {
  accountScope,
  findAccount,
  findMemberships,
  findPerson,
  requireAccount,
  requirePerson,
  type Who,
} from './person.ts'

const shown = ({
  id: _id,
  org_id: _org,
  user_id: _user,
  email_changed_at: _at,
  row_mac: _mac,
  ...account
}: Selectable<Tables['mobile_accounts']>) => account

const readUser = async (who: Who, call: Call): Promise<RowData<'getMobileUser'>> => {
  const { user_id, country_code, national, mobile } = await requirePerson(call, who)
  const account = await findAccount(call, user_id)
  return {
    user_id,
    country_code,
    mobile: national,
    mobile_e164: mobile,
    account: account ? shown(account) : null,
    organizations: await findMemberships(call, user_id),
  }
}

export const getMobileUser: HandlerOf<'getMobileUser'> = readUser

const changeable = [
  'first_name',
  'last_name',
  'email',
  'device_id',
  'imei',
  'platform',
  'device_name',
] as const

/** Changes only the account: an organization has its own details of a member. */
export const updateProfile: HandlerOf<'updateProfile'> = async (
  { mobile, country_code, user_id: id, ...input },
  call,
) => {
  const changed = changedFields(input, changeable)
  const { imei, ...changes } = changed
  const { user_id, account } = await requireAccount(call, { mobile, country_code, user_id: id })
  const newAddress = changes.email !== undefined && changes.email !== account.email
  // The verified address is notified, as it is of changes to devices.
  if (newAddress && account.email_verified_at !== null)
    for (const { id: org_id, state } of await findMemberships(call, user_id))
      if (state === 'active') await notifyNewAddress(call, { org_id, user_id })
  const email_changed_at = account.email === null ? account.email_changed_at : call.now
  const values = {
    ...changes,
    ...(imei !== undefined && { imei: parseImei(imei).imei }),
    ...(newAddress && { email_verified_at: null, email_changed_at }),
  }
  const row_mac = call.keyring.macOf('mobile_accounts', { ...account, ...values })
  await call.db
    .updateTable('mobile_accounts')
    .set({ ...values, row_mac, updated_at: call.now })
    .where(ofMember(account))
    .where('row_mac', '=', account.row_mac)
    .returning('id')
    .executeTakeFirstOrThrow(() => storeChanged(`the account of user ${user_id}`))
  if (newAddress) await sendLinkIfPossible(call, user_id)
  await call.audit(accountScope(call), `user:${user_id}`, Object.keys(changed))
  return readUser({ user_id }, call)
}

/** Checks that an IMEI is well formed, and whether it is the one of that user's account. */
export const checkImei: HandlerOf<'checkImei'> = async ({ imei: text, ...who }, call) => {
  const { imei, kind, tac } = parseImei(text)
  if (who.mobile === undefined && who.user_id === undefined) return { imei, kind, tac, known: null }
  const person = await findPerson(call, who)
  const account = person && (await findAccount(call, person.user_id))
  return { imei, kind, tac, known: account?.imei ? samePhone(account.imei, imei) : false }
}
