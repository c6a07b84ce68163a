import { namedKeyOf, type Caller } from '../call.ts'
import { Refusal } from '../refusal.ts'
import type { Db } from '../storage/schema.ts'
import { later } from '../later.ts'

/** A header of a write: the request that a person approved for it. spec: not shown */
export const approvalHeader = 'x-svc-approval'

const day = 24 * 60 * 60 * 1000

/**
 * What the audit of a write says of the approval that its caller names: an approved request of that very key, decided
 * within a day. Anything else is refused: an audit holds no approval that was not given. Whether the action that was
 * approved is what is written now, its reader sees in the request.
 */
export const checkReference = async (
  db: Db,
  caller: Caller,
  request_id: string,
  now: string,
): Promise<void> => {
  const { orgId } = caller
  const found = await db
    .selectFrom('approvals')
    .where('request_id', '=', request_id)
    .where('asked_by', '=', namedKeyOf(caller))
    .$if(orgId !== null, (query) => query.where('org_id', '=', orgId!))
    .where('status', '=', 'approved')
    .where('decided_at', '>=', later(now, -day))
    .select('id')
    .executeTakeFirst()
  if (!found)
    throw new Refusal(
      422,
      'unknown_approval',
      `${approvalHeader} names no request of this key that was approved within a day`,
      { hint: 'Leave the header out, or ask again: svc approve request' },
    )
}
