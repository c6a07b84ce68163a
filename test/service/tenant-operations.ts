import { type OperationId, table } from '../../src/contract/table.ts'
import { inputs } from './tenant-inputs.ts'

export const all = Object.keys(inputs) as OperationId[]
/** What needs no key is proved otherwise; `device.test.ts`, `approvals/` and `approver/` look at those. */
export const ids = all.filter((id) => !('open' in table[id]) && !('session' in table[id]))
export const isForOperators = (id: OperationId): boolean => 'operator' in table[id]
const sample = (n: number) => ({
  org: n,
  user: `${n}`,
  waiting: `${n}`,
  fence: n,
  slot: `${n}`,
  code: `${n}`,
  device: `${n}`,
  pendingDevice: `${n}`,
  account: `${n}`,
  authCode: `${n}`,
  registered: `${n}`,
  otp: `${n}`,
  keyId: `${n}`,
  owned: `${n}`,
  refresh: `${n}`,
  email: `${n}`,
  sender: `${n}`,
  machine: `${n}`,
  agent: `${n}`,
  group: `g${n}`,
  rule: `r${n}`,
  grace: `${n}`,
  approved: `apr_${n}`,
  digest: String(n).repeat(64),
})
/** Operations that take a child by id: what they are asked changes with whose child it is. */
const own = { ...sample(1), slug: 'a', mobile: '+1', approval: 'a', token: 'a', message: 'a', webhook: 'a' }
const other = { ...sample(2), slug: 'b', mobile: '+2', approval: 'b', token: 'b', message: 'b', webhook: 'b' }
export const takesChild = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](own, other))
export const takesOther = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](other, other))

/** What is wrong, used up and another's is one and the same here too, but no 404. */
export const secretRefused: Partial<Record<OperationId, [number, string]>> = {
  confirmRegistration: [403, 'otp_invalid'],
  refreshMobileToken: [401, 'refresh_token_invalid'],
}

/** People sign these on their phones, and the organizations of the tests have no administrator who could. */
export const signed: Partial<Record<OperationId, [number, string]>> = {
  createGroup: [409, 'not_enough_approvers'],
  addGroupMember: [409, 'not_enough_approvers'],
  removeGroupMember: [409, 'not_enough_approvers'],
  deleteGroup: [409, 'group_in_use'],
  createRule: [409, 'not_enough_approvers'],
  deleteRule: [409, 'not_enough_approvers'],
  setRules: [409, 'not_enough_approvers'],
  // Nobody granted anything.
  revokeGrant: [404, 'not_found'],
  // Nobody is signed in with their keys.
  setAway: [403, 'not_signed_in'],
  reviewApproval: [403, 'not_signed_in'],
  // Nobody but the owner can confirm a key, so the refusal says what that person lacks.
  confirmKeyOwner: [409, 'approver_not_enrolled'],
  // Their only rule holds no call.
  createBatch: [409, 'no_rule_holds'],
  // The rules end with it.
  deleteOrganization: [403, 'approval_required'],
}

export const namesOrganization = (id: OperationId): boolean =>
  JSON.stringify(inputs[id](own, own)) !== JSON.stringify(inputs[id](other, own))
