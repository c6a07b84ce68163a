import type * as z from 'zod/mini'
import type { batchRow } from '../../contract/batch.ts'
import type { BatchOperation } from '../../contract/batchable.ts'
import { issuesOf } from '../../contract/issues.ts'
import { type Operation, orgFields } from '../../contract/operation.ts'
import { table } from '../../contract/table.ts'
import { invalid, invalidFields, notFound } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { createIdDecoder, createIdEncoder } from '../call/row-ids.ts'
import { ofMember, readMobile } from '../call/tenant.ts'
import { requestSubject, type RequestSubject, type Write } from './write-subject.ts'

// A change that people approve together with others: read as its operation would read it, and what they agree to.

type Fields = Record<string, unknown>

/** What people read of a user whom another row may only create is the number, not an id. */
const userFields: Partial<Record<string, 'userId' | 'user_id'>> = {
  updateUser: 'userId',
  removeUser: 'user_id',
  setUserGeofences: 'userId',
  setUserTimeslots: 'userId',
  holdUser: 'user_id',
  acceptUser: 'user_id',
} satisfies Partial<Record<BatchOperation, 'userId' | 'user_id'>>

type Reader = (input: unknown) => Fields
const readers = new Map<string, Reader>()

/** Reads the input of an operation from JSON. Throws a list of issues. */
const readerOf = (id: BatchOperation): Reader => {
  const known = readers.get(id)
  if (known) return known
  const { input: schema }: Operation = table[id]
  const [withTextIds, withRowNumbers] = [createIdEncoder(schema), createIdDecoder(schema)]
  const reader: Reader = (input) => {
    const fields = withTextIds(input) as Fields
    const checked = schema.safeParse(fields)
    if (!checked.success) throw invalidFields(issuesOf(checked.error, schema, fields))
    return withRowNumbers(checked.data) as Fields
  }
  readers.set(id, reader)
  return reader
}

/** A row of a list. `mobile`: of the user whom it concerns, if it named a number. */
export type BatchRow = Write & { id: BatchOperation; mobile: string | undefined }

/** Reads one row as its operation would read it. Fails with the Refusal that the operation would answer. */
export const readBatchRow = (
  { operation: id, input, mobile }: z.output<typeof batchRow>,
  orgId: number,
): BatchRow => {
  const field = userFields[id]
  if (mobile !== undefined && (field === undefined || id === 'removeUser'))
    throw invalid('mobile', `is not possible in a row of ${id}: name the user in its input`)
  const whole = mobile === undefined || field === undefined ? input : { ...input, [field]: '0' }
  const fields = readerOf(id)(whole)
  if (orgFields.some((name) => fields[name] !== undefined && fields[name] !== orgId))
    throw invalid('input', `must be of organization ${orgId}`)
  return { id, input: fields, mobile: mobile && parsePhone(mobile).mobile }
}

const readMember = async (call: Call, org_id: number, user_id: number) => {
  await call.db
    .selectFrom('memberships as m')
    .where(ofMember({ org_id, user_id }, 'm'))
    .where('m.state', '<>', 'removed')
    .select('m.id')
    .executeTakeFirstOrThrow(() => notFound('User'))
  return { mobile: await readMobile(call, user_id) }
}

/** What people agree to in a row: what they would if it were asked alone, without the id of a user. */
export const rowSubject = async (
  call: Call,
  { id, input, mobile }: Write & { mobile?: string | undefined },
  { orgId, slug }: { orgId: number; slug: string },
): Promise<RequestSubject> => {
  const subject = await requestSubject(call, { id, input }, orgId, slug)
  const { before, deletions } = subject.data
  const isAbsent = table[id].effect === 'delete' ? !deletions : id.startsWith('update') && !before
  if (isAbsent) throw notFound('What it changes')
  const field = userFields[id]
  if (field === undefined) return subject
  const { [field]: _, ...body } = subject.data.body
  const user_id = Number(input[field])
  const member = mobile === undefined ? await readMember(call, orgId, user_id) : undefined
  const data = {
    ...subject.data,
    body: id === 'updateUser' || id === 'removeUser' ? body : { ...body, user: mobile ?? member?.mobile },
    ...(id === 'removeUser' && { deletions: [body['user']] }),
  }
  return { type: 'request', data: JSON.parse(JSON.stringify(data)) as RequestSubject['data'] }
}
