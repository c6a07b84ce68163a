import { sql } from 'kysely'
import { lookAlikeOf } from '../../core/look-alike.ts'
import { conflict, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { hashOfCode } from '../call/input.ts'
import { reachOrganization, severalOrganizations, withinOrganization } from '../call/tenant.ts'
import { wakeAdministrators } from '../devices/administrators.ts'
import { findMemberships, findPerson, requireAccount } from './person.ts'
import { lockNumbers } from '../storage/transaction.ts'

/** One answer for a code that is unknown, another organization's, expired or used up. */
const refused = (): Refusal =>
  new Refusal(403, 'auth_code_invalid', 'The auth code is wrong, has expired or was already used', {
    hint: 'Ask the organization for a new one: svc org auth-code create',
  })

/** Counts one use of a code, in one statement. */
const consumeCode = async ({ db, caller, now }: Call, code: string) => {
  const hash = hashOfCode(code)
  if (hash === undefined) throw refused()
  return db
    .updateTable('auth_codes')
    .set({ uses_left: sql<number | null>`uses_left - 1` })
    .where('code_hash', '=', hash)
    .where(withinOrganization(caller.orgId, 'org_id'))
    .where(({ or, eb }) => or([eb('uses_left', 'is', null), eb('uses_left', '>', 0)]))
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .returning(['id', 'org_id'])
    .executeTakeFirstOrThrow(refused)
}

/** Requests to join with the details of the account. A person who was removed or rejected can request it again. */
export const assignOrganization: HandlerOf<'assignOrganization'> = async ({ auth_code, ...who }, call) => {
  let person = await requireAccount(call, who)
  if (await lockNumbers(call.db, [person.mobile])) person = await requireAccount(call, who)
  const { user_id, account } = person
  const { id: codeId, org_id } = await consumeCode(call, auth_code)
  const membership = {
    // A member is reached by this address, and one that is not verified may be somebody else's.
    email: account.email_verified_at === null ? '' : (account.email ?? ''),
    first_name: account.first_name,
    last_name: account.last_name,
    look_alike: lookAlikeOf(`${account.first_name} ${account.last_name}`),
    role: 'member' as const,
    state: 'pending' as const,
    updated_at: call.now,
  }
  // For a member this throws, which also takes back the use of the code.
  await call.db
    .insertInto('memberships')
    .values({ ...membership, org_id, user_id, created_at: call.now })
    .onConflict((on) =>
      on
        .columns(['org_id', 'user_id'])
        .doUpdateSet(membership)
        .where('memberships.state', 'in', ['removed', 'rejected']),
    )
    .returning('id')
    .executeTakeFirstOrThrow(() =>
      conflict(
        'already_assigned',
        'The user is already in this organization or waiting to be accepted',
        'svc mobile check-org',
      ),
    )
  await call.claim(org_id, 'users')
  await call.audit(org_id, `user:${user_id}`, ['state', `auth-code:${codeId}`])
  await wakeAdministrators(call, org_id)
  const organization = await call.db
    .selectFrom('organizations')
    .where('id', '=', org_id)
    .select(['id', 'name', 'slug'])
    .executeTakeFirstOrThrow()
  return { user_id, organization, state: 'pending' }
}

export const checkOrganization: HandlerOf<'checkOrganization'> = async ({ org_id, ...who }, call) => {
  if (org_id !== undefined) await reachOrganization(call, org_id)
  const person = await findPerson(call, who)
  const all = person ? await findMemberships(call, person.user_id) : []
  const meant = org_id === undefined ? all : all.filter(({ id }) => id === org_id)
  // A membership that ended counts only if there is no other.
  const current = meant.filter(({ state }) => state === 'active' || state === 'pending')
  const [found, ...others] = current.length > 0 ? current : meant
  if (!found) return { assigned: false, state: null, role: null, organization: null }
  if (others.length > 0)
    throw severalOrganizations(
      'the user',
      [found, ...others].map(({ id }) => ({ org_id: id })),
    )
  const { role, state, ...organization } = found
  return { assigned: state === 'active', state, role, organization }
}
