import type { ApprovalRecord } from './approval.ts'
import { onlyPerson } from './approvers.ts'
import type { Ask } from './approval-gateway.ts'

/** The record of a new request, for a gateway whose service returns none. */
export const newRequest = (
  ask: Ask,
  { request_id, at, seconds }: { request_id: string; at: number; seconds: number },
): ApprovalRecord => ({
  request_id,
  org_id: ask.org_id ?? 0,
  status: 'pending',
  action: ask.action,
  reason: ask.reason ?? null,
  requester: ask.requester ?? 'svc',
  verified_as: null,
  approver_mobile: onlyPerson(ask.approvers ?? []) ?? '',
  factors: ask.factors ?? [],
  number: null,
  detail: null,
  requested_at: new Date(at).toISOString(),
  expires_at: new Date(at + seconds * 1000).toISOString(),
  decided_at: null,
  ruling: null,
  attestation: null,
  subject: null,
  use_by: null,
  used_at: null,
})
