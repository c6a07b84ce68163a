import { notFound } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { oneOf, parsePhone } from '../call/input.ts'
import { withinOrganization } from '../call/tenant.ts'

type Deps = Pick<Call, 'db' | 'caller'>

/** Accounts belong to the organization whose key made them, 0 for an operator's: no other key finds them. */
export const accountScope = ({ caller }: Pick<Call, 'caller'>): number => caller.orgId ?? 0

/** A mobile number, whole or beside its prefix; or an id. */
export type Who = {
  mobile?: string | undefined
  country_code?: string | undefined
  user_id?: number | undefined
}

/** Within reach: with an account or a registration of this realm, or a member of an organization that the key reaches. */
const findWithinReach = (deps: Deps, { mobile, user_id }: Who) => {
  const { orgId } = deps.caller
  const realm = accountScope(deps)
  return deps.db
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
            .where(withinOrganization(orgId, 'm.org_id')),
        ),
      ]),
    )
    .select(['p.id as user_id', 'p.mobile', 'p.national', 'p.country_code'])
    .executeTakeFirst()
}

export type Person = { user_id: number; mobile: string; national: string; country_code: string }

/** Whom a caller means, by both where both are given. A number that nobody knows is nobody; an id that is out of reach is 404. */
export const findPerson = async (deps: Deps, who: Who): Promise<Person | undefined> => {
  const { mobile, country_code, user_id } = who
  if (mobile === undefined || user_id === undefined) oneOf({ mobile, user_id }, ['mobile', 'user_id'])
  const number = mobile === undefined ? undefined : parsePhone(mobile, country_code).mobile
  const person = await findWithinReach(deps, { user_id, mobile: number })
  if (!person && user_id !== undefined) throw notFound('User')
  return person
}

/** The same, 404 for nobody. */
export const requirePerson = async (deps: Deps, who: Who): Promise<Person> => {
  const person = await findPerson(deps, who)
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

export const findAccount = (deps: Deps, userId: number) =>
  deps.db
    .selectFrom('mobile_accounts')
    .where('org_id', '=', accountScope(deps))
    .where('user_id', '=', userId)
    .select(columns)
    .executeTakeFirst()

/** Somebody who confirmed their phone with a key of this realm; 404 for everybody else. */
export const requireAccount = async (deps: Deps, who: Who) => {
  const person = await requirePerson(deps, who)
  const account = await findAccount(deps, person.user_id)
  if (!account) throw notFound('Account')
  return { ...person, account }
}

/** The memberships of a person that the key reaches, those that ended too. */
export const membershipsOf = ({ db, caller }: Deps, userId: number) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .where('m.user_id', '=', userId)
    .where(withinOrganization(caller.orgId, 'm.org_id'))
    .select(['o.id', 'o.name', 'o.slug', 'm.role', 'm.state'])
    .orderBy('o.id')
    .execute()
