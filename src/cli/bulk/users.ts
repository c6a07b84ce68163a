import { fieldsIn } from '../../client/answered.ts'
import type { Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import { nationalNumber, readPhone } from '../../rules/phone.ts'
import { wholeNumber } from '../../core/phone-parts.ts'
import { type Destination, type Fields, isConflict, type Kind, sameFields, type Send } from './kind.ts'

/** A dialing prefix as spreadsheets leave it: `49`, `0049`. */
const withPlus = (code: unknown): unknown =>
  typeof code === 'string' ? code.trim().replace(/^(?:00)?(?=[1-9]\d{0,3}$)/, '+') : code

const rounded = /^\d(?:[.,]\d{1,20})?E\+?\d{1,2}$/i

const tidy: Kind['tidy'] = (given) => {
  const code = withPlus(given['country_code'])
  const fields: Fields = code === undefined ? given : { ...given, country_code: code }
  const { mobile } = fields
  if (typeof mobile !== 'string') return { fields, issues: [] }
  if (rounded.test(mobile))
    return {
      fields,
      issues: [{ field: 'mobile', message: 'was rounded by a spreadsheet; keep this column as text' }],
    }
  const read = readPhone(mobile, typeof code === 'string' ? code : undefined)
  if ('wrong' in read) return { fields, issues: [{ field: read.wrong, message: read.message }] }
  return { fields: { ...fields, ...read }, key: read.mobile, issues: [] }
}

/** The number in the two parts that the specification shows. */
const bodyOf = (input: Fields): Fields => {
  const phone = { mobile: String(input['mobile']), country_code: String(input['country_code']) }
  return { ...input, mobile: nationalNumber(phone) }
}

// A row of a file is of no type: the service checks it.
const { createUser, updateUser }: Record<'createUser' | 'updateUser', Operation> = user

const open = async ({ client, org, mode }: Destination): Promise<Send> => {
  const update: Send = async ({ key, input }, { signal, idempotencyKey }) => {
    const { country_code: _, mobile: __, ...changes } = input
    const found = fieldsIn(await client.call(user.getUserDetails, { org_id: org, mobile: key }, { signal }))
    const { id: userId } = found
    if (userId === undefined)
      throw new SvcError('failed', 'no_id', 'The service did not return an id for the existing user')
    if (sameFields(changes, found)) return { status: 'skipped', id: userId }
    const with_ = { signal, idempotencyKey: `${idempotencyKey}-update` }
    await client.call(updateUser, { orgId: org, userId, ...changes }, with_)
    return { status: 'updated', id: userId }
  }
  return async (item, options) => {
    try {
      const { id } = fieldsIn(await client.call(createUser, { orgId: org, ...bodyOf(item.input) }, options))
      return { status: 'created', id }
    } catch (error) {
      if (!(error instanceof SvcError) || !isConflict(error) || mode === 'fail') throw error
      return mode === 'skip' ? { status: 'skipped' } : update(item, options)
    }
  }
}

export const users: Kind = {
  group: 'user',
  file: 'users',
  one: 'user',
  many: 'users',
  create: createUser,
  orgField: 'orgId',
  columns: ['mobile', 'country_code', 'email', 'first_name', 'last_name', 'role'],
  aliases: {
    phone: 'mobile',
    phone_number: 'mobile',
    mobile_number: 'mobile',
    mobile_phone: 'mobile',
    tel: 'mobile',
    telephone: 'mobile',
    e_mail: 'email',
    mail: 'email',
    email_address: 'email',
    e_mail_address: 'email',
    firstname: 'first_name',
    given_name: 'first_name',
    forename: 'first_name',
    lastname: 'last_name',
    surname: 'last_name',
    family_name: 'last_name',
    country: 'country_code',
    dialing_code: 'country_code',
    dialing_prefix: 'country_code',
  },
  defaults: { country_code: undefined },
  keyColumn: 'mobile',
  tidy,
  bodyOf,
  open,
  // Who waits or was rejected would be let in by an import, so no export holds them.
  list: user.listUsers,
  listed: { state: 'active' },
  // Whole, so that no spreadsheet can read it as another number.
  rowOf: (record) => ({ ...record, mobile: wholeNumber(record) }),
}
