import { randomToken, sha256, sha256Base64url } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { type Member, ofActiveMember, ofMember, ofMembership } from '../call/tenant.ts'
import { authenticKey, within } from '../keys/ancestry.ts'
import { isAuthenticDevice } from './rows.ts'
import { devicesOf } from './active.ts'
import { linkEnded } from './ended-link.ts'
import { checkActor } from './actors.ts'

const defaultLifetimeMs = 10 * 60_000

/** What a registration signs. It follows from the token, so a device needs nothing but the link. */
export const challengeOfToken = (token: string): string => sha256Base64url(`svc enrollment ${token}`)

/** Creates a one-use link that registers a device. The token is behind the `#`, so that no server logs it. */
export const insertEnrollment = async (call: Call, member: Member, lifetimeMs = defaultLifetimeMs) => {
  const token = randomToken()
  const { org_id, user_id } = member
  const person = call.caller.person && requirePerson(call.caller)
  if (person) await checkActor(call, person, user_id)
  // All devices of a member share one handle, so that an authenticator keeps one key for them.
  const devices = await devicesOf(call.db, member).selectAll().execute()
  const device = devices.find((one) => isAuthenticDevice(call, one))
  const row = {
    org_id,
    user_id,
    token_hash: sha256(token),
    user_handle: device?.user_handle ?? randomToken(16),
    expires_at: addMs(call.now, lifetimeMs),
    used_at: null,
    created_by: call.caller.keyId > 0 ? call.caller.keyId : null,
    added_by: person?.device_id ?? null,
  }
  const row_mac = call.keyring.macOf('enrollments', row)
  await call.db
    .insertInto('enrollments')
    .values({ ...row, row_mac })
    .execute()
  const { user_handle, expires_at } = row
  return { url: `${call.service.publicUrl}/approver#enroll=${token}`, token, user_handle, expires_at }
}

/**
 * The enrollment of a valid token; undefined if it was used or has expired, or its member is not active. Also undefined
 * if another program wrote the row, which could otherwise register a device for anybody.
 */
export const findEnrollment = async (
  { db, now, keyring }: Pick<Call, 'db' | 'now' | 'keyring'>,
  token: string,
) => {
  const row = await db
    .selectFrom('enrollments as e')
    .innerJoin('memberships as m', (join) => join.on(ofMembership('e')))
    .innerJoin('organizations as o', 'o.id', 'e.org_id')
    .where('e.token_hash', '=', sha256(token))
    .where('e.used_at', 'is', null)
    .where('e.expires_at', '>', now)
    .where('m.state', '=', 'active')
    // The links of a revoked key are not valid.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('api_keys as k')
            .whereRef('k.id', '=', 'e.created_by')
            .where('k.revoked_at', 'is not', null)
            .select('k.id'),
        ),
      ),
    )
    .selectAll('e')
    .select(['m.first_name', 'm.last_name', 'o.name as organization'])
    .executeTakeFirst()
  if (!row || !keyring.holds('enrollments', row)) return undefined
  if (row.created_by === null) return row
  // Another program could hide the key, or have taken back its end.
  const key = await authenticKey(within({ db, keyring }, row.org_id), row.created_by)
  return key?.revoked_at === null ? row : undefined
}

/** Ends the unused links of a member. */
export const endEnrollments = async ({ db }: Pick<Call, 'db'>, member: Member): Promise<void> => {
  await db.deleteFrom('enrollments').where(ofMember(member)).where('used_at', 'is', null).execute()
}

/**
 * Ends the unused links that were made at the approver page. Whoever holds a stolen phone can make one for a device of
 * their own; it must not outlive the phone.
 */
export const endPageEnrollments = async ({ db }: Pick<Call, 'db'>, member: Member): Promise<void> => {
  await db
    .deleteFrom('enrollments')
    .where(ofMember(member))
    .where('used_at', 'is', null)
    .where('created_by', 'is', null)
    .execute()
}

/**
 * Uses up the token in one statement, so it works once. The member must still be active. Their other links end as well,
 * so that none in an old message registers a second device.
 */
export const useEnrollment = async (call: Call, token: string) => {
  const { db, now } = call
  const found = await findEnrollment(call, token)
  if (!found) throw await linkEnded(call, token)
  const used = await db
    .updateTable('enrollments')
    .set({ used_at: now, row_mac: null })
    .where('token_hash', '=', sha256(token))
    .where('row_mac', '=', found.row_mac)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where(ofActiveMember('enrollments'))
    .returning('id')
    .executeTakeFirst()
  if (!used) throw await linkEnded(call, token)
  await endEnrollments(call, found)
  // Not what the statement found: another program could change it in between.
  const { org_id, user_id, user_handle, created_by, added_by } = found
  return { org_id, user_id, user_handle, created_by, added_by }
}
