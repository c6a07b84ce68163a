import type { Selectable } from 'kysely'
import type * as z from 'zod/mini'
import type { userRecord } from '../../contract/records.ts'
import { lookAlikeOf } from '../../core/look-alike.ts'
import { conflict, forbidden, notFound } from '../../core/refusal.ts'
import { nationalNumber, type Phone } from '../../factors/phone.ts'
import type { Call } from '../call/call.ts'
import { isOperator } from '../call/caller.ts'
import { parsePhone } from '../call/input.ts'
import { requireNewId } from '../call/new-ids.ts'
import { requireOwnNumber } from '../call/tenant.ts'
import type { Numbered, RowInput } from '../call/row-ids.ts'
import { noCooling, coolingPeriod, isAdminRole } from '../devices/administrators.ts'
import { appoint } from '../devices/appointments.ts'
import { notifyPromotion } from '../devices/notices.ts'
import { newRow, type Tables } from '../storage/schema.ts'
import { named, statement } from '../storage/statement.ts'
import { lockNumbers } from '../storage/transaction.ts'
import { recallPerson } from './erasure.ts'

export type UserRecord = Numbered<z.output<typeof userRecord>>

/** Memberships with the person of each, whose numbers `ownUser` checks. */
export const selectUsers = (call: Pick<Call, 'db'>) =>
  call.db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .select([
      'p.id',
      'm.org_id',
      'p.country_code',
      'p.national as mobile',
      'p.mobile as mobile_e164',
      'm.email',
      'm.first_name',
      'm.last_name',
      'm.role',
      'm.state',
      'm.held_at',
      'm.created_at',
      'm.updated_at',
      'p.row_mac',
    ])

/** A user without the MAC of the number. Throws if another program has changed that: whoever reads it acts on the id. */
export const ownUser = <
  U extends Pick<UserRecord, 'id' | 'mobile' | 'mobile_e164' | 'country_code'> & { row_mac: string | null },
>(
  call: Pick<Call, 'keyring'>,
  { row_mac, ...user }: U,
): Omit<U, 'row_mac'> => {
  const { id, mobile_e164: mobile, mobile: national, country_code } = user
  requireOwnNumber(call, { id, mobile, national, country_code, row_mac })
  return user
}

const readUser = statement((db, { orgId, userId }: { orgId: number; userId: number }) =>
  selectUsers({ db }).where('m.org_id', '=', orgId).where('m.user_id', '=', userId),
)

export const findUser = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  orgId: number,
  userId: number,
): Promise<UserRecord> => {
  const [user] = (await readUser(db, { orgId, userId })).rows
  if (!user) throw notFound('User')
  return ownUser({ keyring }, user)
}

/** Only the operator can appoint operators. */
export const checkRole = (call: Call, role: Tables['memberships']['role'] | undefined): void => {
  if (role === 'operator' && !isOperator(call.caller))
    throw forbidden('operator_only', 'Only an operator key can assign the role operator')
}

/** The id of the person with this number, who is added if absent. */
export const ensurePerson = async (
  { db, keyring, now }: Call,
  phone: Phone,
  orgId: number,
): Promise<number> => {
  // Another organization may be erasing this person.
  await lockNumbers(db, [phone.mobile])
  const id = await recallPerson({ db, keyring }, phone.mobile)
  const meant = newRow('people', { ...phone, national: nationalNumber(phone), created_at: now })
  const made = await db
    .insertInto('people')
    .values({ ...(id !== undefined && { id }), ...meant })
    .onConflict((of) => of.column('mobile').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (made) {
    if (id === undefined) await requireNewId(db, 'user', made.id, orgId)
    const row_mac = keyring.macOf('people', { ...meant, ...made })
    await db.updateTable('people').set({ row_mac }).where('id', '=', made.id).execute()
    return made.id
  }
  const known = await db
    .selectFrom('people')
    .where('mobile', '=', phone.mobile)
    .selectAll()
    .executeTakeFirstOrThrow()
  requireOwnNumber({ keyring }, known)
  return known.id
}

const profileColumns = [
  ...(['email', 'first_name', 'last_name', 'look_alike', 'role', 'state'] as const),
  ...(['promoted_at', 'admin_from', 'updated_at'] as const),
]

/** Returns no row if the person is a member or waits to be accepted. */
const addMembership = statement((db, row: Omit<Selectable<Tables['memberships']>, 'id'>) => {
  const profile = named(row, profileColumns)
  return db
    .insertInto('memberships')
    .values({ ...profile, ...named(row, ['org_id', 'user_id', 'created_at']) })
    .onConflict((of) =>
      of
        .columns(['org_id', 'user_id'])
        .doUpdateSet(profile)
        .where('memberships.state', 'in', ['removed', 'rejected']),
    )
    .returning('id')
})

/** Adds a person to an organization. One who was removed or rejected becomes active again. */
export const addMember = async (
  call: Call,
  orgId: number,
  input: Omit<RowInput<'createUser'>, 'orgId'>,
  // The first administrator of an organization has no cooling period.
  { first = false }: { first?: boolean } = {},
): Promise<UserRecord> => {
  checkRole(call, input.role)
  const { email, first_name, last_name, role = 'member' } = input
  const userId = await ensurePerson(call, parsePhone(input.mobile, input.country_code), orgId)
  const isAdmin = isAdminRole(role)
  const cooling = isAdmin && !first ? await coolingPeriod(call, orgId) : noCooling
  const added = await addMembership(call.db, {
    org_id: orgId,
    user_id: userId,
    email,
    first_name,
    last_name,
    look_alike: lookAlikeOf(`${first_name} ${last_name}`),
    role,
    state: 'active',
    held_at: null,
    ...cooling,
    created_at: call.now,
    updated_at: call.now,
  })
  if (added.rows.length === 0) {
    const { state } = await findUser(call, orgId, userId)
    throw state === 'pending'
      ? conflict(
          'user_pending',
          'This user is waiting to be accepted',
          `svc user pending accept ${userId} --org ${orgId}`,
        )
      : conflict(
          'user_exists',
          'This user is already in the organization',
          `svc user get ${userId} --org ${orgId} shows the user`,
        )
  }
  await call.claim(orgId, 'users')
  await call.audit(orgId, `user:${userId}`)
  if (isAdmin) await appoint(call, { org_id: orgId, user_id: userId })
  if (isAdmin && !first) await notifyPromotion(call, { org_id: orgId, user_id: userId }, cooling)
  return findUser(call, orgId, userId)
}
