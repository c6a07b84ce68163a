import { notFound } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { oneOf, parsePhone } from '../call/input.ts'
import type { RowInput } from '../call/row-ids.ts'
import { type Member, ofMember, requireOwnNumber, withinOrganization } from '../call/tenant.ts'
import { storeChanged } from '../storage/store-changed.ts'

type Deps = Pick<Call, 'db' | 'caller' | 'keyring'>

/** Accounts belong to the organization whose key created them, 0 for an operator's. No other key finds them. */
export const accountScope = ({ caller }: Pick<Call, 'caller'>): number => caller.orgId ?? 0

/** A mobile number, complete or with a separate prefix; or an id. */
export type Who = RowInput<'resendEmailVerification'>

/**
 * The person whom a caller means, by both fields if both are set. Within reach are people with an account or a
 * registration of this scope, and members of an organization that the key reaches. Throws 404 for an id out of reach.
 */
export const findPerson = async (deps: Deps, who: Who) => {
  const { mobile, country_code, user_id } = who
  if (mobile === undefined || user_id === undefined) oneOf({ mobile, user_id }, ['mobile', 'user_id'])
  const number = mobile === undefined ? undefined : parsePhone(mobile, country_code).mobile
  const org_id = accountScope(deps)
  const person = await deps.db
    .selectFrom('people as p')
    .$if(number !== undefined, (query) => query.where('p.mobile', '=', number!))
    .$if(user_id !== undefined, (query) => query.where('p.id', '=', user_id!))
    .where(({ or, exists, selectFrom }) =>
      or([
        ...(['mobile_accounts', 'registrations'] as const).map((table) =>
          exists(
            selectFrom(table).select('user_id').where('org_id', '=', org_id).whereRef('user_id', '=', 'p.id'),
          ),
        ),
        exists(
          selectFrom('memberships as m')
            .select('m.id')
            .whereRef('m.user_id', '=', 'p.id')
            .where(withinOrganization(deps.caller.orgId, 'm.org_id')),
        ),
      ]),
    )
    .selectAll('p')
    .executeTakeFirst()
  if (!person && user_id !== undefined) throw notFound('User')
  if (!person) return undefined
  requireOwnNumber(deps, person)
  const { id, mobile: own, national, country_code: prefix } = person
  return { user_id: id, mobile: own, national, country_code: prefix }
}

/** As `findPerson`, but an unknown number is a 404 too. */
export const requirePerson = async (deps: Deps, who: Who) => {
  const person = await findPerson(deps, who)
  if (!person) throw notFound('User')
  return person
}

/** An account as the service wrote it. Throws if another program has changed it. */
export const readAccount = async ({ db, keyring }: Pick<Call, 'db' | 'keyring'>, member: Member) => {
  const account = await db
    .selectFrom('mobile_accounts')
    .where(ofMember(member))
    .selectAll()
    .executeTakeFirst()
  if (account && !keyring.holds('mobile_accounts', account))
    throw storeChanged(`the account of user ${member.user_id}`)
  return account
}

/** The account of a person in the scope of the key. */
export const findAccount = (deps: Deps, user_id: number) =>
  readAccount(deps, { org_id: accountScope(deps), user_id })

/** A person who confirmed their phone with a key of this scope; 404 for everybody else. */
export const requireAccount = async (deps: Deps, who: Who) => {
  const person = await requirePerson(deps, who)
  const account = await findAccount(deps, person.user_id)
  if (!account) throw notFound('Account')
  return { ...person, account }
}

/** The memberships of a person that the key reaches, ended ones too. */
export const findMemberships = ({ db, caller }: Deps, userId: number) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .where('m.user_id', '=', userId)
    .where(withinOrganization(caller.orgId, 'm.org_id'))
    .select(['o.id', 'o.name', 'o.slug', 'm.role', 'm.state'])
    .orderBy('o.id')
    .execute()
