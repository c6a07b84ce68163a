import { sha256 } from '../../core/ids.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { ofMembership } from '../call/tenant.ts'

/** Why a link cannot be used. Whoever holds the token may know: it says nothing about any other link or person. */
type Reason = 'used' | 'expired' | 'on_hold' | 'unknown'

const messages: Record<Reason, string> = {
  used: 'This enrollment link was already used',
  expired: 'This enrollment link has expired',
  on_hold: 'The user of this enrollment link is not an active member',
  unknown: 'This enrollment link is not valid: it is incomplete, or a newer one replaced it',
}

const readReason = async ({ db, now }: Pick<Call, 'db' | 'now'>, token: string): Promise<Reason> => {
  const link = await db
    .selectFrom('enrollments as e')
    .innerJoin('memberships as m', (join) => join.on(ofMembership('e')))
    .where('e.token_hash', '=', sha256(token))
    .select(['e.used_at', 'e.expires_at', 'm.state'])
    .executeTakeFirst()
  if (!link) return 'unknown'
  if (link.used_at !== null) return 'used'
  if (link.expires_at <= now) return 'expired'
  // A link of a revoked key, or one that another program wrote, is like none.
  return link.state === 'active' ? 'unknown' : 'on_hold'
}

/** The refusal for a link that cannot be used, with its reason. */
export const linkEnded = async (deps: Pick<Call, 'db' | 'now'>, token: string): Promise<Refusal> => {
  const reason = await readReason(deps, token)
  return new Refusal(410, 'enrollment_over', messages[reason], {
    hint: 'Ask for a new link: svc user enroll',
    data: { reason },
  })
}
