import type { Action } from './actions.ts'
import { parseLine } from '../../contract/approvers.ts'
import { orgFields } from '../../contract/operation.ts'
import type { OperationId } from '../../contract/table.ts'
import { sha256 } from '../../core/ids.ts'
import { readPhone } from '../../factors/phone.ts'
import type { Db, Tables } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import type { Caller } from './caller.ts'
import { hashOfCode } from './input.ts'
import { type RowInput, rowOfId } from './row-ids.ts'

// Each write names its organization before its first statement, because an engine with several writers locks that
// organization first. For a caller of several organizations, or none, it comes from the input. It decides nothing: the
// handler looks again inside the transaction and refuses what does not exist.

type Owned = {
  [T in keyof Tables]: Tables[T] extends { org_id: number | null } ? T : never
}[keyof Tables]

const ownerOf = async <T extends Owned>(
  db: Db,
  name: T,
  column: keyof Tables[T] & string,
  value: unknown,
): Promise<number | null | undefined> => {
  // The handler reports the missing value.
  if (value === undefined) return undefined
  const row = await db
    .selectFrom(name as 'approvals')
    .where(column as 'request_id', '=', value as string)
    .select('org_id')
    .orderBy('org_id')
    .limit(1)
    .executeTakeFirst()
  return row?.org_id
}

const ofMobile = async (db: Db, mobile: string, countryCode?: string): Promise<number | undefined> => {
  const phone = readPhone(mobile, countryCode)
  if ('wrong' in phone) return undefined
  const row = await db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .where('p.mobile', '=', phone.mobile)
    .where('m.state', '=', 'active')
    .select('m.org_id')
    .orderBy('m.org_id')
    .limit(1)
    .executeTakeFirst()
  return row?.org_id
}

const ofMachine = async (db: Db, machineId: string): Promise<number | undefined> =>
  (await ownerOf(db, 'machines', 'machine_id', machineId)) ??
  (await db.selectFrom('organizations').select('id').orderBy('id').limit(1).executeTakeFirst())?.id

const ofRequest = (db: Db, { request_id }: { request_id: string }) =>
  ownerOf(db, 'approvals', 'request_id', request_id)
const ofTimeslot = (db: Db, { timeslot_id }: { timeslot_id: number }) =>
  ownerOf(db, 'timeslots', 'id', timeslot_id)
const ofUser = (db: Db, { userId }: { userId: number }) => ownerOf(db, 'memberships', 'user_id', userId)
const ofKey = (db: Db, { id }: { id: number }) => ownerOf(db, 'api_keys', 'id', id)
const ofWebhook = (db: Db, { webhook_id }: { webhook_id: string }) =>
  ownerOf(db, 'webhooks', 'webhook_id', webhook_id)
const ofDevice = (db: Db, { response }: { response: { id: string } }) =>
  ownerOf(db, 'devices', 'credential_id', response.id)

/** How to find the organization if neither the caller nor a field of the input names it. */
const finders: {
  [K in OperationId]?: (db: Db, input: RowInput<K>) => Promise<number | null | undefined>
} = {
  updateTimeslot: ofTimeslot,
  deleteTimeslot: ofTimeslot,
  setUserGeofences: ofUser,
  setUserTimeslots: ofUser,
  rotateKey: ofKey,
  revokeKey: ofKey,
  confirmKeyOwner: ofKey,
  rotateWebhook: ofWebhook,
  replayWebhook: ofWebhook,
  deleteWebhook: ofWebhook,
  createApproval: async (db, { approvers = [] }) => {
    const named = approvers.map(parseLine).find((line) => line.group === undefined)
    return named?.group === undefined && named ? ofMobile(db, named.people[0]!) : undefined
  },
  withdrawApproval: ofRequest,
  consumeApproval: ofRequest,
  decideApproval: ofRequest,
  registerDevice: (db, { token }) => ownerOf(db, 'enrollments', 'token_hash', sha256(token)),
  readEmailLink: (db, { token }) => ownerOf(db, 'email_verifications', 'token_hash', sha256(token)),
  verifyEmail: (db, { token }) => ownerOf(db, 'email_verifications', 'token_hash', sha256(token)),
  openSession: ofDevice,
  sendDeviceCode: ofDevice,
  refuseNewDevice: ofDevice,
  generateAuthToken: (db, { mobile, user_id }) =>
    mobile === undefined ? ownerOf(db, 'memberships', 'user_id', user_id) : ofMobile(db, mobile),
  verifyUser: (db, { mobile, country_code }) => ofMobile(db, mobile, country_code),
  submitAuthResults: (db, { user_id }) => ownerOf(db, 'memberships', 'user_id', user_id),
  validateAuth: (db, { mobile, request_id }) =>
    request_id === undefined ? ofMobile(db, mobile) : ownerOf(db, 'verifications', 'request_id', request_id),
  saveFaceauthSuccess: (db, { auth_token }) => ownerOf(db, 'verifications', 'token_hash', sha256(auth_token)),
  assignOrganization: (db, { auth_code }) =>
    ownerOf(db, 'auth_codes', 'code_hash', hashOfCode(auth_code) ?? ''),
  registerMachine: (db, { machineId }) => ofMachine(db, machineId),
  loginMachine: (db, { machineId }) => ofMachine(db, machineId),
  sendAuthRequestByEmail: (db, { email }) => ownerOf(db, 'memberships', 'email', email),
  sendAppAuthNotification: (db, { to_mobile }) => ofMobile(db, to_mobile),
  testDelivery: async (db, { channel, to }) =>
    channel === 'push' ? ownerOf(db, 'devices', 'id', rowOfId(to)) : undefined,
  retryMessage: (db, { message_id }) => ownerOf(db, 'outbox', 'message_id', message_id),
}

/**
 * The organization that a call of an operation writes to. 0 is the service itself: its keys, new organizations, and rows
 * that belong to no organization.
 */
export const namedOrganization = async (
  { read }: Pick<Storage, 'read'>,
  { action, caller }: { action: Action; caller: Caller },
  input: object,
): Promise<number> => {
  if (caller.orgId !== null && caller.orgId >= 0) return caller.orgId
  const named = orgFields
    .map((name) => (input as Record<string, unknown>)[name])
    .find((value) => typeof value === 'number')
  if (named !== undefined) return named as number
  const find = finders[action as OperationId] as
    | ((db: Db, input: object) => Promise<number | null | undefined>)
    | undefined
  return (find && (await read((db) => find(db, input)))) ?? 0
}
