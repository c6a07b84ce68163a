import { randomInt } from 'node:crypto'
import type { SoftwareKey } from '../../src/client/software-authenticator.ts'
import type { Receipt } from '../../src/receipt/claims.ts'
import type { ApprovalContext } from '../../src/receipt/context.ts'
import type { ReceiptParts } from '../../src/receipt/receipt.ts'
import { createSet, type ReceiptSet } from '../../src/receipt/set.ts'
import { approval, approverKey, decidedAt, device, specimen, type Issuer } from '../receipt/specimen.ts'

/** A genuine set in which nobody can be spared, and receipts that a dishonest service could put into it. */
export type Made = {
  set: ReceiptSet
  bad: Record<'again' | 'denial' | 'sameKey' | 'otherTimes' | 'unknownOrigin', Receipt>
}

type Person = { approver: ApprovalContext['approver']; key: SoftwareKey }

const unknown: ReceiptParts['device'] = {
  ...device,
  enrolled_by: { ...device.enrolled_by, relation: 'unknown' },
}

const nonce = (): string => Array.from({ length: 22 }, () => randomInt(10)).join('')
const rising = (people: readonly Person[]): string[] =>
  people.map(({ approver }) => approver.user_id).toSorted((one, other) => Number(one) - Number(other))

/** A group of which some must agree, and often somebody who is named; the first of each agree. */
export const makeSet = async (issuer: Issuer, at: number): Promise<Made> => {
  const people = Array.from({ length: 5 }, (_, i): Person => {
    const user_id = String(at * 10 + i * 3 + 1)
    const mobile = `+1202${user_id.padStart(7, '0')}`
    const key = approverKey(randomInt(2) === 0 ? 'ES256' : 'EdDSA')
    return { approver: { user_id, name: `Ada ${user_id}`, mobile, twin: at % 3 === 0 }, key }
  })
  const need = 2 + (at % 2)
  const rule = { name: 'destroy', digest: String(at % 10).repeat(64) }
  const group = { id: String(at + 1), name: 'sre' }
  const question: ApprovalContext = {
    ...approval,
    request_id: `apr_${at}`,
    action: `${approval.action} no ${at}`,
    factors: approval.factors.slice(0, at % 3),
    rules: [rule],
    lines: [
      { people: rising(people.slice(0, 4)), need, group, rules: ['destroy'], separated: true },
      ...(at % 3 === 0
        ? [{ people: rising(people.slice(4)), need: 1, group: null, rules: [], separated: false }]
        : []),
    ],
  }
  const dev = at % 7 === 0
  const answer = (
    { approver, key }: Person,
    changes: Partial<ApprovalContext> = {},
    parts: Partial<ReceiptParts> = {},
  ): Promise<Receipt> =>
    specimen(issuer, { ...question, approver, nonce: nonce(), ...changes }, key, { dev, ...parts })
  const [first, second] = people as [Person, Person]
  const agreed = [...people.slice(0, need), ...(at % 3 === 0 ? people.slice(4) : [])]
  const [one, ...others] = await Promise.all(agreed.map((person) => answer(person)))
  const completedAt = new Date(decidedAt.getTime() + randomInt(5_000))
  const excluded = at % 2 === 0 ? [{ user_id: String(at * 10 + 2), reason: 'owns the requesting key' }] : []
  return {
    set: await createSet({ receipts: [one!, ...others], completedAt, excluded }, issuer.sign),
    bad: {
      again: await answer(first),
      denial: await answer(second, { decision: 'deny' }),
      sameKey: await answer({ ...second, key: first.key }),
      otherTimes: await answer(second, { request_expires_at: '2030-01-31T12:04:00.000Z' }),
      unknownOrigin: await answer(second, {}, { device: unknown }),
    },
  }
}
