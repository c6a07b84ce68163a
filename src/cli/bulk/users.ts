import { fieldsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { hasNumber } from '../../client/ignored-filters.ts'
import type { Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { nationalNumber } from '../../factors/phone.ts'
import type { Item } from './check-rows.ts'
import type { Fields } from './read-file.ts'

export const conflictModes = ['fail', 'skip', 'update'] as const
export type ConflictMode = (typeof conflictModes)[number]

export type Outcome = 'created' | 'updated' | 'skipped'

const otherConflicts = new Set(['idempotency_key_reused', 'quota_exceeded'])

/** The user already exists. Third-party services have other codes for it, or none. */
export const isConflict = ({ code, http_status }: SvcError): boolean =>
  http_status === 409 && !otherConflicts.has(code)

/** The request body, with the phone number in two parts as in the specification. */
export const bodyOf = (input: Fields): Fields => {
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

const sameFields = (fields: Fields, record: unknown): boolean =>
  isRecord(record) &&
  Object.entries(fields).every(([name, value]) => JSON.stringify(record[name]) === JSON.stringify(value))

type To = { client: Client; org: number; mode: ConflictMode; signal: AbortSignal }

const update = async ({ mobile, input }: Item, { client, org, signal }: To): Promise<Outcome> => {
  const { country_code: _, mobile: __, ...changes } = input
  const found = await client
    .call(user.getUserDetails, { org_id: org, mobile }, { signal })
    .then((answer): Fields => fieldsIn(answer), asNobody)
  // A service may look the user up by something else, and an update would overwrite that person.
  if (!hasNumber(mobile, found))
    throw new SvcError(
      'refused',
      'other_user',
      'The service does not show that the user it found has this mobile number, so nothing was changed',
      { hint: 'Look the user up and change it by id: svc user list, svc user update' },
    )
  const { id: userId } = found
  if (userId === undefined)
    throw new SvcError('failed', 'no_id', 'The service did not return an id for the existing user')
  if (sameFields(changes, found)) return 'skipped'
  await client.call(updateUser, { orgId: org, userId, ...changes }, { signal })
  return 'updated'
}

/** Sends one row. */
export const sendUser = async (item: Item, to: To): Promise<Outcome> => {
  const { client, org, mode, signal } = to
  try {
    await client.call(createUser, { orgId: org, ...bodyOf(item.input) }, { signal })
    return 'created'
  } catch (error) {
    if (!(error instanceof SvcError) || !isConflict(error) || mode === 'fail') throw error
    return mode === 'skip' ? 'skipped' : update(item, to)
  }
}
