import { addMs, dayMs } from '../../core/iso-time.ts'
import { readBreakGlass, wasTold } from '../approvals/broken-glass.ts'
import { findApproval, selectApprovals } from '../approvals/record.ts'
import { keepReview, whyNoReview } from '../approvals/review.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { Member } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import type { Signed } from './challenge.ts'
import { challengeFor, signs } from './proof.ts'

/** For as long the page follows an emergency, and asks for its review. */
const shownMs = 7 * dayMs

/**
 * The emergencies that a person was told of: those that they can review now, the newest first, and a state that changes with
 * what became of them.
 */
export const readEmergencies = async (
  { db, keyring, now }: { db: Db } & Pick<Call, 'keyring' | 'now'>,
  { org_id, user_id }: Member,
) => {
  const rows = await selectApprovals(db, { orgId: org_id })
    .where('a.break_glass', 'is not', null)
    .where('a.requested_at', '>', addMs(now, -shownMs))
    .orderBy('a.requested_at', 'desc')
    .execute()
  const told = rows.filter((row) => keyring.holds('approvals', row) && wasTold(row, user_id))
  return {
    state: told.map((row) => [row.request_id, row.status, row.answers, readBreakGlass(row)?.review]),
    waiting_reviews: told
      .filter((row) => !whyNoReview(row, user_id, { keyring }))
      .map(({ request_id }) => request_id),
  }
}

type Said = Pick<RowInput<'reviewApproval'>, 'request_id' | 'ok' | 'dispute' | 'note'>

const asks = ({ request_id, ok, dispute, note }: Said): Signed => ({
  type: 'review',
  request_id,
  said: JSON.stringify([ok, dispute, note]),
})

export const beginReview: HandlerOf<'beginReview'> = challengeFor(asks)

export const signReview: HandlerOf<'signReview'> = signs(asks, async (call, said, { person, settle }) => {
  const row = await findApproval(call.db, said.request_id, { orgId: person.org_id })
  await settle(call)
  await keepReview(call, row, said, person)
  return undefined
})
