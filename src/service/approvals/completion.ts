import { assign, type Yes } from '../../receipt/assignment.ts'
import { yesOf } from '../../receipt/lines.ts'
import { createSet, type ReceiptSet } from '../../receipt/set.ts'
import type { Call } from '../call/call.ts'
import { readVoters, type Voter } from './ballots.ts'
import { type Excluded, idsOf, readLines } from './lines.ts'
import type { ApprovalRow } from './rows.ts'

// When a request is complete: every line has as many people as it needs, and each of them counts once.

/** What the answers so far amount to. */
export type Tally = {
  /** Whether those who agreed suffice. */
  isComplete: boolean
  /** Whether the people who can still answer, with those who agreed, suffice. */
  isPossible: boolean
  /** Those who agreed and still count. */
  agreed: Voter[]
}

/** Counts in the transaction of a decision, from the rows as they are. */
export const tally = async (call: Parameters<typeof readVoters>[0], row: ApprovalRow): Promise<Tally> => {
  const lines = idsOf(readLines(row))
  const voters = await readVoters(call, row)
  const voteOf = ({ ballot, receipt }: Voter): Yes =>
    receipt ? yesOf(receipt.claims) : { id: String(ballot.user_id), counts: () => true }
  const agreed = voters.filter(({ receipt }) => receipt !== undefined)
  return {
    agreed,
    isComplete: assign(lines, agreed.map(voteOf)) !== undefined,
    isPossible: assign(lines, voters.map(voteOf)) !== undefined,
  }
}

/** Those who were asked in several lines or together with others have a set of receipts, which the service completes. */
export const isSeveral = (row: Pick<ApprovalRow, 'lines'>): boolean => {
  const [line, ...others] = readLines(row)
  return others.length > 0 || line!.people.length > 1
}

/** What proves a completed request: the receipts of all who agreed, with the completion that the service signs. */
export const completedSet = (call: Call, row: ApprovalRow, agreed: readonly Voter[]): Promise<ReceiptSet> => {
  const [first, ...others] = agreed.map(({ receipt }) => receipt!)
  const excluded = (JSON.parse(row.excluded) as Excluded[]).map(({ user_id, reason }) => ({
    user_id: String(user_id),
    reason,
  }))
  return createSet(
    { receipts: [first!, ...others], completedAt: new Date(call.now), excluded },
    (claims, typ) => call.keyring.sign(claims, typ, call.db),
  )
}
