import { type SoftwareKey } from '../../src/client/software-authenticator.ts'
import type { Receipt } from '../../src/receipt/claims.ts'
import type { ApprovalContext } from '../../src/receipt/context.ts'
import type { ReceiptParts } from '../../src/receipt/receipt.ts'
import { type CompletionParts, createSet, type ReceiptSet } from '../../src/receipt/set.ts'
import { approval, approverKey, decidedAt, device, type Issuer, specimen } from './specimen.ts'

export type Person = { approver: ApprovalContext['approver']; key: SoftwareKey }

const person = (user_id: string, name: string): Person => ({
  approver: { user_id, name, mobile: `+120255501${user_id.padStart(2, '0')}`, twin: false },
  key: approverKey(Number(user_id) % 2 === 0 ? 'ES256' : 'EdDSA'),
})

export const ada = person('5', 'Ada Lovelace')
export const grace = person('9', 'Grace Hopper')
export const joan = person('12', 'Joan Clarke')
export const katherine = person('30', 'Katherine Johnson')

const destroy = { name: 'destroy', digest: 'd'.repeat(64) }

/** Two of the group, because of a rule, and somebody who was named. */
export const question: ApprovalContext = {
  ...approval,
  lines: [
    {
      people: ['5', '9', '12'],
      need: 2,
      group: { id: '2', name: 'sre' },
      rules: ['destroy'],
      separated: true,
    },
    { people: ['12', '30'], need: 1, group: null, rules: [], separated: false },
  ],
  rules: [destroy],
}

let nonces = 0

/** The receipt of one of the people who were asked. */
export const answerOf = (
  issuer: Issuer,
  { approver, key }: Person,
  changes: Partial<ApprovalContext> = {},
  parts: Partial<ReceiptParts> = {},
  how: { userVerified?: boolean } = {},
): Promise<Receipt> => {
  const nonce = String(nonces++).padStart(22, 'A')
  return specimen(issuer, { ...question, approver, nonce, ...changes }, key, parts, how)
}

/** The parts of a device of this origin. */
export const ofOrigin = (relation: typeof device.enrolled_by.relation): Partial<ReceiptParts> => ({
  device: { ...device, enrolled_by: { ...device.enrolled_by, relation } },
})

export const completedAt = new Date(decidedAt.getTime() + 2_000)

export const excluded = [{ user_id: '3', reason: 'owns the requesting key' }]

/** A set as the service makes it. */
export const setOf = (
  issuer: Issuer,
  receipts: readonly Receipt[],
  parts: Partial<CompletionParts> = {},
): Promise<ReceiptSet> =>
  createSet(
    { receipts: receipts as CompletionParts['receipts'], completedAt, excluded, ...parts },
    issuer.sign,
  )

/** Ada and Grace for the group, Katherine by name. */
export const genuineSet = async (issuer: Issuer): Promise<ReceiptSet> => {
  const receipts = await Promise.all([ada, grace, katherine].map((one) => answerOf(issuer, one)))
  return setOf(issuer, receipts)
}
