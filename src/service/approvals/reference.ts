import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { withinOrganization } from '../call/tenant.ts'

/** A header of a write: the request that a person approved for it. spec: not shown */
export const approvalHeader = 'x-svc-approval'

const day = 24 * 60 * 60 * 1000

export const unknownApproval = (): Refusal =>
  new Refusal(
    422,
    'unknown_approval',
    `${approvalHeader} does not name a request of this organization that was approved within the last day`,
    { hint: 'Leave the header out, or request a new approval: svc approve request' },
  )

export type Referenced = Awaited<ReturnType<typeof findReferenced>>

/** Finds the request that a call names, in any state. Fails with 422 for one that is out of reach. */
export const findReferenced = ({ db, caller }: Pick<Call, 'db' | 'caller'>, request_id: string) =>
  db
    .selectFrom('approvals')
    .where('request_id', '=', request_id)
    .where(withinOrganization(caller.orgId, 'org_id'))
    .select(['request_id', 'org_id', 'user_id', 'asked_by', 'device_id'])
    .executeTakeFirstOrThrow(unknownApproval)

/**
 * Checks the approval that the audit row of a write will name. It must have been approved within a day. The key that
 * requested it must be the calling key, or another key of the same organization (or of the service), because the
 * requesting key is often not the one that writes. Readers of the audit compare the approved action with the write.
 */
export const checkReference = async (
  { db, caller, now }: Pick<Call, 'db' | 'caller' | 'now'>,
  request_id: string,
): Promise<void> => {
  const { orgId } = caller
  await db
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
    .executeTakeFirstOrThrow(unknownApproval)
}
