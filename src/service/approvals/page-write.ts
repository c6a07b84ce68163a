import type { Operation } from '../../contract/operation.ts'
import { type OperationId, table } from '../../contract/table.ts'
import { forbidden, notFound } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { type Caller, namedKeyOf, requirePerson } from '../call/caller.ts'
import type { Service } from '../call/service.ts'
import { ofMember } from '../call/tenant.ts'
import { ownerOfDevice } from '../devices/record.ts'
import { proveApproval } from './authentic.ts'
import { readCurrent } from './current.ts'
import { requestExpired } from './expiry.ts'
import { readLines } from './lines.ts'
import type { ApprovalRow } from './rows.ts'

// A rule that holds a command also holds the write of the approver page that does the same.

type Fields = Record<string, unknown>

const commands = new Map(
  (Object.keys(table) as OperationId[]).flatMap((id) => {
    const { session, cli }: Operation = table[id]
    return session ? [] : [[cli, id] as const]
  }),
)

/** The person whom a write of the page concerns. */
const subjectOf = async (call: Call, { user_id, device_id }: Fields): Promise<number | undefined> => {
  if (typeof device_id !== 'number') return user_id as number | undefined
  const owner = await ownerOfDevice(call, requirePerson(call.caller).org_id, device_id)
  // Another program could give it to the caller, or hide it, for this statement.
  if (owner === undefined) throw notFound('Device')
  return owner
}

/** The operation of the command that a call of the page equals; its own if it equals none. */
export const equalOf = (id: OperationId, { move }: Fields): OperationId => {
  const { equals }: Operation = table[id]
  const words = typeof equals === 'object' ? equals[String(move)] : equals
  return (words === undefined ? undefined : commands.get(words)) ?? id
}

/**
 * The command that a call equals, with its input. A call of a key is its own command; so is what a person at the page does to
 * their own devices and mutes, which no rule holds.
 */
export const commandOf = async (
  call: Call,
  id: OperationId,
  input: Fields,
): Promise<{ id: OperationId; input: Fields }> => {
  const { person } = call.caller
  const command = equalOf(id, input)
  if (!person || command === id) return { id, input }
  const { challenge: _, response: __, move: ___, ...rest } = input
  const subject = await subjectOf(call, rest)
  return subject === undefined || subject === person.user_id ? { id, input } : { id: command, input: rest }
}

/** The signed-in person as a requester: not a key, but a member whom their own device confirmed. */
export const asRequester = async (call: Call): Promise<Call> => {
  const { caller } = call
  if (!caller.person) return call
  const person = requirePerson(caller)
  const { first_name, last_name } = await call.db
    .selectFrom('memberships')
    .where(ofMember(person))
    .select(['first_name', 'last_name'])
    .executeTakeFirstOrThrow()
  const name = `${first_name} ${last_name}`
  return { ...call, caller: { ...caller, keyId: 0, lineage: caller.keyId, name, ownerId: person.user_id } }
}

/**
 * The approval with which a person at the page repeats a call. Fails while somebody still has to answer, and after a denial or
 * the end of the request.
 */
export const proveRepeated = async (
  service: Service,
  caller: Caller,
  request_id: string,
): Promise<ApprovalRow | undefined> => {
  const access = { orgId: caller.orgId, askedBy: namedKeyOf(caller) }
  const row = await readCurrent(service, request_id, access)
  const { status, detail, decided_by, note } = row
  if (status === 'denied') {
    const people = readLines(row).flatMap((line) => line.people)
    const denied_by = people.find(({ user_id }) => user_id === decided_by)?.name
    throw forbidden('denied', 'The approval of this was denied; nothing was changed', undefined, {
      denied_by,
      note,
    })
  }
  if (status === 'approved') return proveApproval(service, request_id, access)
  if (status === 'expired') throw requestExpired(detail)
  throw forbidden('approval_required', 'Not everybody has answered yet; nothing was changed')
}
