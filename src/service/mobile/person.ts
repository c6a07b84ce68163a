import { notFound } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { oneOf, parsePhone } from '../call/input.ts'

type Reach = Pick<Call, 'db' | 'caller'>

/** Accounts belong to the organization whose key made them, 0 for an operator's: no other key finds them. */
export const accountScope = ({ caller }: Pick<Call, 'caller'>): number => caller.orgId ?? 0

/** A mobile number, whole or beside its prefix; or an id. */
export type Who = { mobile?: string; country_code?: string; user_id?: number }

/** Within reach: with an account or a registration of this realm, or a member of an organization that the key reaches. */
const findWithinReach = (reach: Reach, { mobile, user_id }: Who) => {
  const { orgId } = reach.caller
  const realm = accountScope(reach)
  return reach.db
    .selectFrom('people as p')
    .$if(mobile !== undefined, (query) => query.where('p.mobile', '=', mobile!))
    .$if(user_id !== undefined, (query) => query.where('p.id', '=', user_id!))
    .where(({ or, exists, selectFrom }) =>
      or([
        exists(
          selectFrom('mobile_accounts as a')
            .select('a.id')
            .where('a.org_id', '=', realm)
            .whereRef('a.user_id', '=', 'p.id'),
        ),
        exists(
          selectFrom('registrations as r')
            .select('r.user_id')
            .where('r.org_id', '=', realm)
            .whereRef('r.user_id', '=', 'p.id'),
        ),
        exists(
          selectFrom('memberships as m')
            .select('m.id')
            .whereRef('m.user_id', '=', 'p.id')
            .$if(orgId !== null, (own) => own.where('m.org_id', '=', orgId!)),
        ),
      ]),
    )
    .select(['p.id as user_id', 'p.mobile', 'p.national', 'p.country_code'])
    .executeTakeFirst()
}

export type Person = { user_id: number; mobile: string; national: string; country_code: string }

/** Whom a caller means, by both where both are given. A number that nobody knows is nobody; an id that is out of reach is 404. */
export const findPerson = async (reach: Reach, who: Who): Promise<Person | undefined> => {
  const { mobile, country_code, user_id } = who
  if (mobile === undefined || user_id === undefined) oneOf({ mobile, user_id }, ['mobile', 'user_id'])
  const number = mobile === undefined ? undefined : parsePhone(mobile, country_code).mobile
  const person = await findWithinReach(reach, { user_id, mobile: number })
  if (!person && user_id !== undefined) throw notFound('User')
  return person
}

/** The same, 404 for nobody. */
export const requirePerson = async (reach: Reach, who: Who): Promise<Person> => {
  const person = await findPerson(reach, who)
  if (!person) throw notFound('User')
  return person
}

const columns = [
  'first_name',
  'last_name',
  'email',
  'email_verified_at',
  'device_id',
  'imei',
  'platform',
  'device_name',
  'created_at',
  'updated_at',
] as const

export const findAccount = (reach: Reach, userId: number) =>
  reach.db
    .selectFrom('mobile_accounts')
    .where('org_id', '=', accountScope(reach))
    .where('user_id', '=', userId)
    .select(columns)
    .executeTakeFirst()

/** Somebody who confirmed their phone with a key of this realm; 404 for everybody else. */
export const requireAccount = async (reach: Reach, who: Who) => {
  const person = await requirePerson(reach, who)
  const account = await findAccount(reach, person.user_id)
  if (!account) throw notFound('Account')
  return { ...person, account }
}

/** The memberships of a person that the key reaches, those that ended too. */
export const membershipsOf = ({ db, caller }: Reach, userId: number) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .where('m.user_id', '=', userId)
    .$if(caller.orgId !== null, (own) => own.where('m.org_id', '=', caller.orgId!))
    .select(['o.id', 'o.name', 'o.slug', 'm.role', 'm.state'])
    .orderBy('o.id')
    .execute()
