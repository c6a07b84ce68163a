import type { approver } from '../../contract/approver.ts'
import { sha256 } from '../../core/ids.ts'
import { inboxName, pause } from '../approvals/decision-waiter.ts'
import { toSubjectRecord, type ApprovalRow, encodedContexts, selectApprovals } from '../approvals/record.ts'
import { type Person, sessionOver } from '../call/caller.ts'
import type { RowData } from '../call/row-ids.ts'
import type { Service } from '../call/service.ts'
import { isSessionOpen } from './session.ts'

type Inbox = RowData<typeof approver.listInbox>
type Approver = Person & { org_id: number }

const readPending = ({ storage }: Service, { org_id, user_id }: Approver): Promise<ApprovalRow[]> =>
  storage.read((db) =>
    selectApprovals(db, { orgId: org_id })
      .where('a.user_id', '=', user_id)
      .where('a.status', '=', 'pending')
      .where('a.format', '=', 2)
      .where('a.expires_at', '>', storage.now())
      .orderBy('a.id')
      .execute(),
  )

const markOf = (rows: ApprovalRow[]): string =>
  sha256(rows.map((row) => row.request_id).join(' ')).slice(0, 32)

const pendingOf = (row: ApprovalRow, now: string): Inbox['requests'][number] => ({
  request_id: row.request_id,
  action: row.action,
  reason: row.reason,
  requester: row.requester,
  verified_as: row.verified_as,
  subject: toSubjectRecord(row),
  factors: JSON.parse(row.factors) as Inbox['requests'][number]['factors'],
  requested_at: row.requested_at,
  expires_at: row.expires_at,
  expires_in_ms: Date.parse(row.expires_at) - Date.parse(now),
  number_required: row.number !== null,
  contexts: encodedContexts(row),
})

type Wait = { seconds: number; seen: string | undefined; signal?: AbortSignal | undefined }

/**
 * What is pending for an approver: as soon as it is something else than `seen`, or after so many seconds. Fails with 401
 * as soon as the session has ended.
 */
export const awaitInbox = async (
  service: Service,
  approver: Approver,
  { seconds, seen, signal }: Wait,
): Promise<Inbox> => {
  const { storage, waiter } = service
  const until = performance.now() + seconds * 1000
  for (;;) {
    // First listen, then read: what comes between the two wakes this one.
    const listening = waiter.listen(inboxName(approver))
    try {
      const rows = await readPending(service, approver)
      const mark = markOf(rows)
      if (!(await isSessionOpen(service, approver))) throw sessionOver()
      const now = storage.now()
      const left = until - performance.now()
      if (mark !== seen || left <= 0 || waiter.stopped || signal?.aborted)
        return { mark, requests: rows.map((row) => pendingOf(row, now)) }
      const lives = rows.map((row) => Date.parse(row.expires_at) - Date.parse(now))
      await pause(listening.woken, Math.max(1, Math.min(left, ...lives)), signal)
    } finally {
      listening.close()
    }
  }
}
