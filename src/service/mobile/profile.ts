import type { account } from '../../contract/account.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields } from '../call/input.ts'
import type { RowData } from '../call/row-ids.ts'
import { parseImei, samePhone } from '../devices/imei.ts'
import { tellNewAddress } from '../devices/notices.ts'
import { sendLinkIfPossible } from './email-link.ts'
import {
  accountScope,
  findAccount,
  findPerson,
  membershipsOf,
  requireAccount,
  requirePerson,
  type Who,
} from './person.ts'

type Record = RowData<typeof account.getMobileUser>

const readPerson = async (call: Call, who: Who): Promise<Record> => {
  const person = await requirePerson(call, who)
  return {
    user_id: person.user_id,
    country_code: person.country_code,
    mobile: person.national,
    mobile_e164: person.mobile,
    account: (await findAccount(call, person.user_id)) ?? null,
    organizations: await membershipsOf(call, person.user_id),
  }
}

export const getMobileUser: HandlerOf<typeof account.getMobileUser> = (input, call) => readPerson(call, input)

const changeable = [
  'first_name',
  'last_name',
  'email',
  'device_id',
  'imei',
  'platform',
  'device_name',
] as const

/** Changes the account alone: what an organization knows of its member is the organization's. */
export const updateProfile: HandlerOf<typeof account.updateProfile> = async (
  { mobile, country_code, user_id: id, ...input },
  call,
) => {
  const { imei, ...changes } = changedFields(input, changeable)
  const { user_id, account } = await requireAccount(call, { mobile, country_code, user_id: id })
  const newAddress = changes.email !== undefined && changes.email !== account.email
  // The address that was proved is told, as it is told of changes of devices.
  if (newAddress && account.email_verified_at !== null)
    for (const { id: org_id, state } of await membershipsOf(call, user_id))
      if (state === 'active') await tellNewAddress(call, { org_id, user_id })
  await call.db
    .updateTable('mobile_accounts')
    .set({
      ...changes,
      ...(imei !== undefined && { imei: parseImei(imei).imei }),
      ...(newAddress && {
        email_verified_at: null,
        ...(account.email !== null && { email_changed_at: call.now }),
      }),
      updated_at: call.now,
    })
    .where('org_id', '=', accountScope(call))
    .where('user_id', '=', user_id)
    .execute()
  if (newAddress) await sendLinkIfPossible(call, user_id)
  await call.audit(accountScope(call), `user:${user_id}`, Object.keys(changedFields(input, changeable)))
  return readPerson(call, { user_id })
}

/** Whether an IMEI can be one, and whether it is the one that the account of that user has. */
export const checkImei: HandlerOf<typeof account.checkImei> = async ({ imei: text, ...who }, call) => {
  const { imei, kind, tac } = parseImei(text)
  if (who.mobile === undefined && who.user_id === undefined) return { imei, kind, tac, known: null }
  const person = await findPerson(call, who)
  const account = person && (await findAccount(call, person.user_id))
  return { imei, kind, tac, known: account?.imei ? samePhone(account.imei, imei) : false }
}
