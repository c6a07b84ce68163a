import canonicalize from 'canonicalize'
import type { UseClaims } from '../../receipt/grant-use.ts'
import type { ReceiptClaims } from '../../receipt/claims.ts'
import { createRecent } from '../../core/recent.ts'
import { conflict, forbidden, type Refusal } from '../../core/refusal.ts'
import type { Service } from '../call/service.ts'
import { askAgain } from './ask-again.ts'
import { readLines } from './lines.ts'
import { type ApprovalRow, updateApproval } from './rows.ts'
import { type ApprovalAccess, isApproved, selectApprovals, signedLines } from './record.ts'

export const requestNotAuthentic = (done: 'decided' | 'used'): Refusal =>
  forbidden(
    'request_not_authentic',
    'Another program has changed this request in the store',
    `It cannot be ${done}. ${askAgain}`,
  )

const receiptsErased = (): Refusal =>
  conflict(
    'not_approved',
    'The receipts of this approval were erased, with a person whom they named or after their time',
    askAgain,
  )

/** Whether the service itself erased the receipts of an approval. The MAC covers both signs of it. */
const hasErasedReceipts = (row: ApprovalRow): boolean =>
  row.attestation === null &&
  (row.used_at !== null || readLines(row).some(({ people }) => people.some(({ mobile }) => mobile === '')))

const isOfRow = (claims: ReceiptClaims, row: ApprovalRow): boolean =>
  claims.status === 'approved' &&
  claims.jti === row.request_id &&
  claims.subject.digest === row.subject_digest &&
  claims.organization.id === String(row.org_id) &&
  row.granted_by === null &&
  canonicalize(claims.lines) === canonicalize(signedLines(row))

const isUseOf = (use: UseClaims, row: ApprovalRow): boolean =>
  use.jti === row.request_id &&
  use.subject.digest === row.subject_digest &&
  use.organization.id === String(row.org_id) &&
  use.grant.request_id === row.granted_by &&
  use.use === row.grant_use

/** Whether the stored receipts are genuine, and the approval of exactly this request by the people it asked. */
const isProved = async ({ keyring }: Pick<Service, 'keyring'>, row: ApprovalRow): Promise<boolean> => {
  // The verifier is slow to load, and not every service needs it.
  const { verifyApproval } = await import('../../receipt/approval.ts')
  const found = verifyApproval(row.attestation, await keyring.jwks())
  if (!found) return false
  return found.use ? isUseOf(found.use, row) : found.receipts.every((claims) => isOfRow(claims, row))
}

const isOver = ({ use_by, used_at }: ApprovalRow, now: string): boolean => used_at === null && use_by! <= now

/** In a write of its own, because the call that comes too late is undone. */
const noteLapse = async (storage: Service['storage'], row: ApprovalRow): Promise<void> => {
  const lapsed_at = storage.now()
  if (row.lapsed_at !== null || !isOver(row, lapsed_at)) return
  await storage.write(
    (db) => updateApproval(db, row).set({ lapsed_at }).where('use_by', '<=', lapsed_at).execute(),
    { org: null, routine: true },
  )
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
  if (!isApproved(row, { keyring })) throw requestNotAuthentic('used')
  if (hasErasedReceipts(row)) throw receiptsErased()
  if (!(await isProved({ keyring }, row))) throw requestNotAuthentic('used')
  await noteLapse(storage, row)
  return row
}

/** For each service, the requests that were proved last for one of their rows. */
const proved = createRecent<string, ApprovalRow>(100)

export const forgetProved = (keyring: Service['keyring'], request_id: string): void =>
  proved.delete(keyring, request_id)

/**
 * As `proveApproval`, for one of many rows: reads and verifies the request once. The use of the row compares its MAC, its state
 * and its time with the store.
 */
export const proveForRow = async (
  service: Pick<Service, 'storage' | 'keyring'>,
  request_id: string,
  access: ApprovalAccess,
): Promise<ApprovalRow | undefined> => {
  const { keyring } = service
  const known = proved.get(keyring, request_id)
  const isOurs = known && (access.orgId === null || access.orgId === known.org_id)
  if (isOurs && !isOver(known, service.storage.now())) return known
  const row = await proveApproval(service, request_id, access)
  if (row?.status === 'approved') proved.set(keyring, request_id, row)
  return row
}
