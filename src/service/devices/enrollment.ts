import { createHash } from 'node:crypto'
import { randomToken, sha256 } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import type { Keyring } from '../call/keyring.ts'
import { ofActiveMember } from '../call/tenant.ts'
import { devicesOf } from '../devices/active.ts'
import type { Db } from '../storage/schema.ts'

const lifetimeMs = 10 * 60_000

/** What a registration signs: told by its token, so whoever has the link needs to ask for nothing else. */
export const challengeOfToken = (token: string): string =>
  createHash('sha256').update(`svc enrollment ${token}`).digest('base64url')

/** One handle for all devices of a member, so that an authenticator keeps one key for them. */
const userHandle = async (db: Db, orgId: number, userId: number): Promise<string> => {
  const device = await devicesOf(db, { org_id: orgId, user_id: userId })
    .select('user_handle')
    .executeTakeFirst()
  return device?.user_handle ?? randomToken(16)
}

/** A one-use link that registers a device; the token stands behind the `#`, so that no server log holds it. */
export const insertEnrollment = async (call: Call, orgId: number, userId: number, lasts = lifetimeMs) => {
  const token = randomToken()
  const expires_at = addMs(call.now, lasts)
  const user_handle = await userHandle(call.db, orgId, userId)
  const row = {
    org_id: orgId,
    user_id: userId,
    token_hash: sha256(token),
    user_handle,
    expires_at,
    used_at: null,
    // Whoever acts at the approver page, or with the bearer of the tool server, is no key of the store.
    created_by: call.caller.keyId > 0 ? call.caller.keyId : null,
  }
  const row_mac = call.keyring.macOf('enrollments', row)
  await call.db
    .insertInto('enrollments')
    .values({ ...row, row_mac })
    .execute()
  return { url: `${call.publicUrl}/approver#enroll=${token}`, token, user_handle, expires_at }
}

/** The same for a token that was used, has lapsed or never was. */
export const enrollmentOver = (): Refusal =>
  new Refusal(410, 'enrollment_over', 'This enrollment was used, has lapsed, or never was', {
    hint: 'Ask for a new link: svc user enroll <user-id>',
  })

type Deps = { db: Db; now: string; keyring: Pick<Keyring, 'holds'> }

/**
 * For whom a token is good; undefined when it is used or has lapsed, its member is not active, or another program wrote it:
 * with such a link, whoever writes the store would register a device of their own for anybody.
 */
export const findEnrollment = async ({ db, now, keyring }: Deps, token: string) => {
  const row = await db
    .selectFrom('enrollments as e')
    .innerJoin('memberships as m', (join) =>
      join.onRef('m.org_id', '=', 'e.org_id').onRef('m.user_id', '=', 'e.user_id'),
    )
    .innerJoin('organizations as o', 'o.id', 'e.org_id')
    .where('e.token_hash', '=', sha256(token))
    .where('e.used_at', 'is', null)
    .where('e.expires_at', '>', now)
    .where('m.state', '=', 'active')
    // A key that was revoked enrolls nobody any more.
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
  return row && keyring.holds('enrollments', row) ? row : undefined
}

/** Ends the links of a member that were not used. */
export const endEnrollments = async (
  { db }: Pick<Call, 'db'>,
  { org_id, user_id }: { org_id: number; user_id: number },
): Promise<void> => {
  await db
    .deleteFrom('enrollments')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('used_at', 'is', null)
    .execute()
}

/**
 * Spends the token: one statement, one use. The member must still be active. Their other links end with it, so that none
 * that lies in a message registers a second device.
 */
export const spendEnrollment = async (call: Call, token: string) => {
  const { db, now } = call
  const enrollment = await findEnrollment(call, token)
  if (!enrollment) throw enrollmentOver()
  const { org_id, user_id, user_handle, created_by } = await db
    .updateTable('enrollments')
    .set({ used_at: now, row_mac: null })
    .where('token_hash', '=', sha256(token))
    .where('row_mac', '=', enrollment.row_mac)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where(ofActiveMember('enrollments'))
    .returning(['org_id', 'user_id', 'user_handle', 'created_by'])
    .executeTakeFirstOrThrow(enrollmentOver)
  await endEnrollments(call, { org_id, user_id })
  return { org_id, user_id, user_handle, created_by }
}
