import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { type Caller, namedKeyOf } from '../call/caller.ts'
import { withinOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'

/** A header of a write: the request that a person approved for it. spec: not shown */
export const approvalHeader = 'x-svc-approval'

const day = 24 * 60 * 60 * 1000

export const unknownApproval = (): Refusal =>
  new Refusal(
    422,
    'unknown_approval',
    `${approvalHeader} names no request of this organization that was approved within a day`,
    { hint: 'Leave the header out, or ask again: svc approve request' },
  )

/** The request that a call names, whatever its state. Fails with 422 for one that is out of reach. */
export const findReferenced = (
  { db, caller }: Pick<Call, 'db' | 'caller'>,
  request_id: string,
): Promise<{ org_id: number; user_id: number; asked_by: number; device_id: number | null }> =>
  db
    .selectFrom('approvals')
    .where('request_id', '=', request_id)
    .where(withinOrganization(caller.orgId, 'org_id'))
    .select(['org_id', 'user_id', 'asked_by', 'device_id'])
    .executeTakeFirstOrThrow(unknownApproval)

/**
 * What the audit of a write says of the approval that its caller names: a request that was approved within a day, made with
 * that very key or with another key of the same organization (of the service, for a key of the service), because the key
 * that asks is often not the one that writes. Anything else is refused: an audit holds no approval that was not given.
 * Whether the action that was approved is what is written now, its reader sees in the request.
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
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('asked_by', '=', namedKeyOf(caller)),
        exists(
          selectFrom('api_keys')
            .whereRef('api_keys.id', '=', 'approvals.asked_by')
            .where('api_keys.org_id', orgId === null ? 'is' : '=', orgId)
            .select('api_keys.id'),
        ),
      ]),
    )
    .where(withinOrganization(orgId, 'org_id'))
    .where('status', '=', 'approved')
    .where('decided_at', '>=', addMs(now, -day))
    .select('id')
    .executeTakeFirst()
  if (!found) throw unknownApproval()
}
