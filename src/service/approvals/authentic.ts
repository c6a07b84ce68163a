import canonicalize from 'canonicalize'
import type { ReceiptClaims } from '../../receipt/claims.ts'
import { forbidden, type Refusal } from '../../core/refusal.ts'
import type { Service } from '../call/service.ts'
import type { ApprovalRow } from './rows.ts'
import { type ApprovalAccess, isApproved, selectApprovals, signedLines } from './record.ts'

export const requestNotAuthentic = (done: 'decided' | 'used'): Refusal =>
  forbidden(
    'request_not_authentic',
    'Another program has changed this request in the store',
    `It cannot be ${done}. Request a new approval: svc approve request`,
  )

const isOfRow = (claims: ReceiptClaims, row: ApprovalRow): boolean =>
  claims.status === 'approved' &&
  claims.jti === row.request_id &&
  claims.subject.digest === row.subject_digest &&
  claims.organization.id === String(row.org_id) &&
  canonicalize(claims.lines) === canonicalize(signedLines(row))

/** For each service, the receipts that were proved last, by the MAC of their request: one is used for many rows. */
const proved = new WeakMap<object, Map<string, string>>()
const mostProved = 100

/** Whether the stored receipts are genuine, and the approval of exactly this request by the people it asked. */
const isProved = async ({ keyring }: Pick<Service, 'keyring'>, row: ApprovalRow): Promise<boolean> => {
  const known = proved.get(keyring) ?? new Map<string, string>()
  if (row.row_mac !== null && row.attestation !== null && known.get(row.row_mac) === row.attestation)
    return true
  // The verifier is slow to load, and not every service needs it.
  const { verifyApproval } = await import('../../receipt/approval.ts')
  const all = verifyApproval(row.attestation, await keyring.jwks())
  if (!all?.every((claims) => isOfRow(claims, row))) return false
  const [oldest] = known.keys()
  if (known.size >= mostProved) known.delete(oldest!)
  proved.set(keyring, known.set(row.row_mac!, row.attestation!))
  return true
}

/**
 * Reads the request whose approval a call wants to use; undefined if there is none that the caller reaches. Fails with 403
 * for an approval that the row's MAC or the stored receipt contradicts. Outside of a transaction: it verifies
 * signatures. The use itself compares the MAC again, so that nothing that was verified can have changed.
 */
export const proveApproval = async (
  { storage, keyring }: Pick<Service, 'storage' | 'keyring'>,
  request_id: string,
  access: ApprovalAccess,
): Promise<ApprovalRow | undefined> => {
  const row = await storage.read((db) =>
    selectApprovals(db, access).where('a.request_id', '=', request_id).executeTakeFirst(),
  )
  if (row?.status !== 'approved') return row
  if (!isApproved(row, { keyring }) || !(await isProved({ keyring }, row))) throw requestNotAuthentic('used')
  return row
}
