import { fieldsIn } from '../../client/answer-data.ts'
import { hasNumber } from '../../client/ignored-filters.ts'
import type { Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import { nationalNumber, readPhone } from '../../factors/phone.ts'
import { wholeNumber } from '../../core/phone-parts.ts'
import { type Destination, type Fields, isConflict, type Kind, sameFields, type Send } from './kind.ts'

/** Repairs a dialing prefix that a spreadsheet changed to `49` or `0049`. */
const withPlus = (code: unknown): unknown =>
  typeof code === 'string' ? code.trim().replace(/^(?:00)?(?=[1-9]\d{0,3}$)/, '+') : code

const rounded = /^\d(?:[.,]\d{1,20})?E\+?\d{1,2}$/i

const tidy: Kind['tidy'] = (row) => {
  const code = withPlus(row['country_code'])
  const fields: Fields = code === undefined ? row : { ...row, country_code: code }
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

/** The request body, with the phone number in two parts as in the specification. */
const bodyOf = (input: Fields): Fields => {
  const phone = { mobile: String(input['mobile']), country_code: String(input['country_code']) }
  return { ...input, mobile: nationalNumber(phone) }
}

// The rows of a file are untyped; the service checks them.
const { createUser, updateUser }: Record<'createUser' | 'updateUser', Operation> = user

/** The client has already noticed that the answer is about another number. */
const asNobody = (error: unknown): Fields => {
  if (error instanceof SvcError && error.code === 'filter_ignored') return {}
  throw error
}

const open = async ({ client, org, mode }: Destination): Promise<Send> => {
  const update: Send = async ({ key, input }, { signal, idempotencyKey }) => {
    const { country_code: _, mobile: __, ...changes } = input
    const found = await client
      .call(user.getUserDetails, { org_id: org, mobile: key }, { signal })
      .then((answer): Fields => fieldsIn(answer), asNobody)
    // A service may look the user up by something else, and an update would overwrite that person.
    if (!hasNumber(key, found))
      throw new SvcError(
        'refused',
        'other_user',
        'The service does not show that the user it found has this mobile number, so nothing was changed',
        { hint: 'Look the user up and change it by id: svc user list, svc user update' },
      )
    const { id: userId } = found
    if (userId === undefined)
      throw new SvcError('failed', 'no_id', 'The service did not return an id for the existing user')
    if (sameFields(changes, found)) return { status: 'skipped', id: userId }
    const options = { signal, idempotencyKey: `${idempotencyKey}-update` }
    await client.call(updateUser, { orgId: org, userId, ...changes }, options)
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
    mobile: ['phone', 'phone_number', 'mobile_number', 'mobile_phone', 'tel', 'telephone'],
    country_code: ['country', 'dialing_code', 'dialing_prefix'],
    email: ['e_mail', 'mail', 'email_address', 'e_mail_address'],
    first_name: ['firstname', 'given_name', 'forename'],
    last_name: ['lastname', 'surname', 'family_name'],
  },
  defaults: { country_code: undefined },
  keyColumn: 'mobile',
  tidy,
  bodyOf,
  open,
  // Only active users: importing the others again would admit them.
  list: user.listUsers,
  listed: { state: 'active' },
  // The full number, so that a spreadsheet cannot change it.
  rowOf: (record) => ({ ...record, mobile: wholeNumber(record) }),
}
