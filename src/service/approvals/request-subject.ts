import { metaOf } from '../../contract/field.ts'
import { orgFields } from '../../contract/operation.ts'
import { fieldSchemas } from '../../contract/schema.ts'
import { type OperationId, table } from '../../contract/table.ts'
import type { Subject } from '../../receipt/subject.ts'
import type { Call } from '../call/call.ts'
import { organizationRow } from '../call/tenant.ts'

export type Fields = Record<string, unknown>
type Present = Fields & { name: string }

const ofTable =
  (name: 'geofences' | 'timeslots' | 'auth_codes', idField: string) =>
  async ({ db }: Call, input: Fields, orgId: number): Promise<Present | undefined> => {
    const row: Fields | undefined = await db
      .selectFrom(name)
      .where('id', '=', input[idField] as number)
      .where('org_id', '=', orgId)
      .selectAll()
      .executeTakeFirst()
    return row && { ...row, name: String(row.name ?? row.label) }
  }

const ofUser =
  (idField: 'userId' | 'user_id') =>
  async ({ db }: Call, input: Fields, orgId: number): Promise<Present | undefined> => {
    const row = await db
      .selectFrom('memberships as m')
      .innerJoin('people as p', 'p.id', 'm.user_id')
      .where('m.org_id', '=', orgId)
      .where('m.user_id', '=', input[idField] as number)
      .select(['m.email', 'm.first_name', 'm.last_name', 'm.role', 'm.state'])
      .select(['p.mobile', 'p.country_code'])
      .executeTakeFirst()
    return row && { ...row, name: `${row.first_name} ${row.last_name}` }
  }

const ofOrganization = ({ db }: Call, _: Fields, orgId: number): Promise<Present> =>
  organizationRow(db, orgId)

/** What a call changes or deletes, as it is now. */
const presentOf: Partial<
  Record<OperationId, (call: Call, input: Fields, orgId: number) => Promise<Present | undefined>>
> = {
  updateGeofence: ofTable('geofences', 'id'),
  deleteGeofence: ofTable('geofences', 'id'),
  updateTimeslot: ofTable('timeslots', 'timeslot_id'),
  deleteTimeslot: ofTable('timeslots', 'timeslot_id'),
  updateAuthCode: ofTable('auth_codes', 'authCodeId'),
  deleteAuthCode: ofTable('auth_codes', 'auth_code_id'),
  updateUser: ofUser('userId'),
  deleteUser: ofUser('userId'),
  removeUser: ofUser('user_id'),
  makeAdmin: ofUser('user_id'),
  updateOrganization: ofOrganization,
  deleteOrganization: ofOrganization,
}

/** The input without the organization; of a secret, a digest that only the service can make. */
const bodyOf = ({ keyring }: Call, id: OperationId, input: Fields): Fields => {
  const shape = fieldSchemas(table[id].input)
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => {
      if (value === undefined || orgFields.includes(name)) return []
      const field = shape[name]
      const isSecret = field !== undefined && metaOf(field)?.secret === true
      return [[name, isSecret ? keyring.secretDigest(String(value)) : value]]
    }),
  )
}

/**
 * What a person approves when a call requires it: the operation, its organization and its input, with the values that an
 * update replaces and the name of what a deletion deletes. The same call on the same state has the same digest.
 */
export const requestSubject = async (
  call: Call,
  id: OperationId,
  input: Fields,
  orgId: number,
): Promise<Extract<Subject, { type: 'request' }>> => {
  const { slug } = await organizationRow(call.db, orgId)
  const body = bodyOf(call, id, input)
  const present = await presentOf[id]?.(call, input, orgId)
  const deletes = table[id].effect === 'delete'
  const replaced = Object.entries(present ?? {}).filter(([name]) => !deletes && Object.hasOwn(body, name))
  const data = {
    organization: { id: String(orgId), slug },
    operation: id,
    body,
    ...(replaced.length > 0 && { before: Object.fromEntries(replaced) }),
    ...(present && deletes && { deletions: [present.name] }),
  }
  // As JSON: what is signed is what a verifier reads.
  return { type: 'request', data: JSON.parse(JSON.stringify(data)) as typeof data } as Extract<
    Subject,
    { type: 'request' }
  >
}
