import type { ApprovalRecord } from '../../src/contract/approval.ts'

/** What the receipt of a request of one person says; undefined without one. */
export const receiptStatus = ({ attestation }: ApprovalRecord): unknown =>
  attestation?.format === 'jws' ? attestation.claims.status : undefined
