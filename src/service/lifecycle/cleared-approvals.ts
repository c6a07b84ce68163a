import { sha256 } from '../../core/ids.ts'
import type { Receipt } from '../../receipt/claims.ts'
import { appendAudit } from '../call/audit.ts'
import type { Db } from '../storage/schema.ts'

const cleared = '(cleared)'

/** Stands for the receipt that is gone: whoever kept a copy can show that it is the one that was given. */
const digestOf = (attestation: string | null): string | null =>
  attestation === null ? null : sha256((JSON.parse(attestation) as Receipt).jws)

/**
 * Clears texts, numbers, places and receipts of approvals that ended before `before`, a few at a time. Who asked, who
 * decided with which device, what and when stays, as ids, and so do the digests. Answers how many there were.
 */
export const clearApprovals = async (
  db: Db,
  { now, before, atMost }: { now: string; before: string; atMost: number },
): Promise<number> => {
  const rows = await db
    .selectFrom('approvals')
    .where('cleared_at', 'is', null)
    .where('ended_at', '<', before)
    .select(['id', 'org_id', 'attestation'])
    .orderBy('ended_at')
    .limit(atMost)
    .execute()
  const byOrganization = new Map<number, number>()
  for (const { id, org_id, attestation } of rows) {
    await db
      .updateTable('approvals')
      .set({
        action: cleared,
        requester: cleared,
        approver_mobile: cleared,
        reason: null,
        number: null,
        detail: null,
        ruling: null,
        attestation: null,
        subject_data: null,
        receipt_digest: digestOf(attestation),
        cleared_at: now,
      })
      .where('id', '=', id)
      .where('org_id', '=', org_id)
      .execute()
    byOrganization.set(org_id, (byOrganization.get(org_id) ?? 0) + 1)
  }
  for (const [orgId, count] of byOrganization)
    await appendAudit(db, {
      orgId,
      at: now,
      actor: 'service',
      action: 'clearApprovals',
      subject: `approvals:${count}`,
      changes: ['cleared_at'],
      requestId: '-',
    })
  return rows.length
}
