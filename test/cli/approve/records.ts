import type { ApprovalRecord } from '../../../src/contract/approval.ts'

/** A request as the service returns it, created at the start of 2026 with one minute to decide. */
export const record = (changes: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
  request_id: 'apr_1',
  org_id: 1,
  status: 'pending',
  action: 'Deploy 4.2',
  reason: null,
  requester: 'ci',
  verified_as: null,
  approver_mobile: '+12025550101',
  factors: ['biometric'],
  number: null,
  detail: null,
  requested_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:01:00.000Z',
  decided_at: null,
  ruling: null,
  attestation: null,
  subject: null,
  use_by: null,
  used_at: null,
  ...changes,
})
