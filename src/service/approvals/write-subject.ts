import { metaOf } from '../../contract/field.ts'
import { orgFields } from '../../contract/operation.ts'
import { fieldSchemas } from '../../contract/schema.ts'
import { type OperationId, table } from '../../contract/table.ts'
import type { Subject } from '../../receipt/subject.ts'
import type { Call } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { ofMember, organizationRow, ownSlug, readPeople } from '../call/tenant.ts'
import { tryTarget } from '../call/webhook-target.ts'
import { ownerOfDevice, readDevice, toDeviceRecords } from '../devices/record.ts'
import { isAuthenticKey } from '../keys/rows.ts'
import { ownedKeyText } from './key-confirmation.ts'
import { leavingKeysText } from './leaving.ts'
import { peopleText } from './people-text.ts'
import { reviewedText } from './review.ts'
import { readRuleChange } from './rule-subject.ts'

// What people read of a write that a rule holds.

type Fields = Record<string, unknown>
type Reader = (call: Call, input: Fields, orgId: number) => Promise<(Fields & { name: string }) | undefined>

const readRow =
  (name: 'geofences' | 'timeslots' | 'auth_codes', idField: string): Reader =>
  async ({ db }, input, orgId) => {
    const row: Fields | undefined = await db
      .selectFrom(name)
      .where('id', '=', input[idField] as number)
      .where('org_id', '=', orgId)
      .selectAll()
      .executeTakeFirst()
    return row && { ...row, uses: row.uses_left, name: String(row.name ?? row.label) }
  }

const readUser =
  (idField: 'userId' | 'user_id'): Reader =>
  async (call, input, orgId) => {
    const user_id = input[idField] as number
    const row = await call.db
      .selectFrom('memberships')
      .where(ofMember({ org_id: orgId, user_id }))
      .select(['email', 'first_name', 'last_name', 'role', 'state', 'held_at'])
      .executeTakeFirst()
    const [person] = row ? await readPeople(call, [user_id]) : []
    if (!row || !person) return undefined
    const { country_code, mobile } = person
    return { ...row, country_code, mobile, name: `${row.first_name} ${row.last_name}` }
  }

/** Of the policy, only what an update names changes. */
const readOrganization: Reader = async ({ db }, { policy = {} }, orgId) => {
  const row = await organizationRow(db, orgId)
  const named = Object.entries(row.policy).filter(([name]) => Object.hasOwn(policy as Fields, name))
  return { ...row, policy: Object.fromEntries(named) }
}

const readKey: Reader = async ({ db, keyring }, input, orgId) => {
  const row = await db
    .selectFrom('api_keys')
    .where('id', '=', Number(input['id']))
    .where('org_id', '=', orgId)
    .selectAll()
    .executeTakeFirst()
  return row && isAuthenticKey(keyring, row) ? { name: `${row.name} (${row.scopes})` } : undefined
}

/** The host of a webhook: its whole address can be a secret. */
const readWebhook: Reader = async ({ db, keyring }, input, orgId) => {
  const row = await db
    .selectFrom('webhooks')
    .where('webhook_id', '=', String(input['webhook_id']))
    .where('org_id', '=', orgId)
    .select(['webhook_id', 'org_id', 'wrapped'])
    .executeTakeFirst()
  const target = row && tryTarget(keyring, row)
  return row && { name: target ? new URL(target.url).host : row.webhook_id }
}

/** Reads what a call is about to change or delete. */
const readers: Partial<Record<OperationId, Reader>> = {
  updateGeofence: readRow('geofences', 'id'),
  deleteGeofence: readRow('geofences', 'id'),
  updateTimeslot: readRow('timeslots', 'timeslot_id'),
  deleteTimeslot: readRow('timeslots', 'timeslot_id'),
  updateAuthCode: readRow('auth_codes', 'authCodeId'),
  deleteAuthCode: readRow('auth_codes', 'auth_code_id'),
  updateUser: readUser('userId'),
  deleteUser: readUser('userId'),
  removeUser: readUser('user_id'),
  makeAdmin: readUser('user_id'),
  acceptUser: readUser('user_id'),
  updateOrganization: readOrganization,
  deleteOrganization: readOrganization,
  rotateKey: readKey,
  revokeKey: readKey,
  rotateWebhook: readWebhook,
  replayWebhook: readWebhook,
  deleteWebhook: readWebhook,
}

const ownColumns = new Set(['id', 'org_id', 'user_id'])

/** The geofences or time slots of a user that a call replaces. */
const replacedLists = async ({ db }: Call, { id, input }: Write, org_id: number): Promise<Fields> => {
  if (id !== 'setUserGeofences' && id !== 'setUserTimeslots') return {}
  const name = id === 'setUserGeofences' ? 'geofences' : 'timeslots'
  const rows = await db
    .selectFrom(`user_${name}` as 'user_geofences')
    .where(ofMember({ org_id, user_id: Number(input['userId']) }))
    .selectAll()
    .orderBy('id')
    .execute()
  return {
    [name]: rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([column]) => !ownColumns.has(column))),
    ),
  }
}

/** The input without the organization; a secret becomes a digest that only the service can compute. */
const bodyOf = ({ keyring }: Call, id: OperationId, input: Fields): Fields => {
  const shape = fieldSchemas(table[id].input)
  const body: Fields = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || orgFields.includes(name)) continue
    const field = shape[name]
    const isSecret = field !== undefined && metaOf(field)?.secret === true
    body[name] = isSecret ? keyring.secretDigest(String(value)) : value
  }
  return body
}

const memberWithNumber = async ({ db }: Call, { mobile, country_code }: Fields, orgId: number) => {
  const number = parsePhone(String(mobile), country_code as string | undefined).mobile
  const member = await db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .where('m.org_id', '=', orgId)
    .where('p.mobile', '=', number)
    .select('m.user_id')
    .executeTakeFirst()
  // The number is proven with the text of the person.
  return member?.user_id
}

/** The user whom a call is about; undefined if it is about none. */
const concernedUser = async (call: Call, { id, input }: Write, orgId: number) => {
  if (id === 'createKey') return input['owner_user_id'] as number | undefined
  if (id === 'updateProfile' && input['mobile'] !== undefined) return memberWithNumber(call, input, orgId)
  if (id === 'setAway') return Number(input['user_id'] ?? call.caller.ownerId)
  if (input['device_id'] === undefined) return (input['userId'] ?? input['user_id']) as number | undefined
  return ownerOfDevice(call, orgId, Number(input['device_id']))
}

/** A device as its person and whoever approves it see it. */
const deviceText = async (call: Call, orgId: number, id: number): Promise<Fields> => {
  const [device] = toDeviceRecords(call, await readDevice(call, orgId, id).execute())
  return device ? { device_name: device.name, comparison_code: device.comparison_code } : {}
}

/** After which the keys of a person end. */
const endings: Partial<Record<OperationId, 'away' | 'on hold'>> = {
  deleteUser: 'away',
  removeUser: 'away',
  holdUser: 'on hold',
  rejectUser: 'on hold',
}

/** What an approver reads besides the input, which names it by id only. */
const moreOf = async (call: Call, { id, input }: Write, orgId: number): Promise<Fields> => {
  if (id === 'confirmKeyOwner') return ownedKeyText(call, Number(input['id']))
  if (id === 'reviewApproval') return reviewedText(call, String(input['request_id']), orgId)
  const user_id = await concernedUser(call, { id, input }, orgId)
  if (user_id === undefined) return {}
  const [user] = await peopleText(call, orgId, [user_id])
  const goes = endings[id]
  return {
    user,
    ...(goes && (await leavingKeysText(call, { org_id: orgId, user_id }, goes))),
    ...(input['device_id'] !== undefined && (await deviceText(call, orgId, Number(input['device_id'])))),
  }
}

/** A call of an operation that writes. */
export type Write = { id: OperationId; input: Fields }

export type RequestSubject = Extract<Subject, { type: 'request' }>

/**
 * What a person approves when a call requires it: the operation, its organization and its input, with the values that an
 * update replaces and the name of what a deletion deletes. The same call on the same state has the same digest. `known`: the
 * slug of the organization.
 */
export const requestSubject = async (
  call: Call,
  { id, input }: Write,
  orgId: number,
  known?: string,
): Promise<RequestSubject> => {
  const slug = known ?? (await ownSlug(call, orgId))
  const body = bodyOf(call, id, input)
  const present = await readers[id]?.(call, input, orgId)
  const deletes = table[id].effect === 'delete'
  const replaced = Object.entries(present ?? {}).filter(([name]) => !deletes && Object.hasOwn(body, name))
  const change = await readRuleChange(call, id, input, orgId)
  replaced.push(...Object.entries(change?.before ?? (await replacedLists(call, { id, input }, orgId))))
  const more = await moreOf(call, { id, input }, orgId)
  // Whoever comes back as an administrator answers for changes again.
  if (id === 'acceptUser' && present && present['role'] !== 'member') more['role'] = present['role']
  // Or a lifted hold would read as a new member.
  if (id === 'acceptUser' && present?.['held_at']) more['held_at'] = present['held_at']
  // The input names by an id what is not a person.
  const isUnnamed =
    present && !deletes && id !== 'updateOrganization' && !('user' in more) && !('name' in body)
  const data = {
    organization: { id: String(orgId), slug },
    operation: id,
    body: { ...body, ...(isUnnamed && { name: present.name }), ...more, ...change?.after },
    ...(replaced.length > 0 && { before: Object.fromEntries(replaced) }),
    ...(present && deletes && { deletions: [present.name] }),
  }
  // Through JSON, because verifiers read JSON: a value that JSON changes would have another digest there.
  return { type: 'request', data: JSON.parse(JSON.stringify(data)) as RequestSubject['data'] }
}
