import { assign, type Yes } from '../../core/assignment.ts'
import { yesOf } from '../../receipt/lines.ts'
import { createSet, type ReceiptSet } from '../../receipt/set.ts'
import type { Call } from '../call/call.ts'
import { readVoters, type Voter } from './ballots.ts'
import { readGroups } from '../policy/group-rows.ts'
import { type Excluded, idsOf, readLines, type StoredLine } from './lines.ts'
import type { ApprovalRow } from './rows.ts'

// When a request is complete: every line has as many people as it needs, and each of them counts once.

/** What the answers so far amount to. */
export type Tally = {
  /** Whether the people who can still answer, with those who agreed, suffice. */
  isPossible: boolean
  /** Those who agreed and still count. */
  agreed: Voter[]
  /** Who of them agreed for which line, if they suffice. */
  assignment: string[][] | undefined
}

/** A yes as its receipt counts it; somebody who has not answered can still count anywhere. */
const yesBy = ({ ballot, receipt }: Voter): Yes =>
  receipt ? yesOf(receipt.claims) : { id: String(ballot.user_id), counts: () => true }

/** Who is in the group of each line now: leaving a group takes effect at once. Undefined for other lines. */
const readMembers = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  row: ApprovalRow,
  lines: readonly StoredLine[],
): Promise<(ReadonlySet<number> | undefined)[]> => {
  if (!asksGroup(row)) return []
  const { org_id } = row
  const groups = await readGroups({ db, keyring }, org_id)
  return lines.map(({ group }) =>
    group === null ? undefined : new Set(groups.find(({ id }) => id === group.id)?.members),
  )
}

/** Counts in the transaction of a decision, from the rows as they are. */
export const tally = async (call: Parameters<typeof readVoters>[0], row: ApprovalRow): Promise<Tally> => {
  const lines = readLines(row)
  const voters = await readVoters(call, row)
  const members = await readMembers(call, row, lines)
  const voteOf = (voter: Voter): Yes => {
    const { id, counts } = yesBy(voter)
    return { id, counts: (line) => counts(line) && (members[line]?.has(voter.ballot.user_id) ?? true) }
  }
  const agreed = voters.filter(
    (voter) => voter.receipt && lines.some((_, line) => voteOf(voter).counts(line)),
  )
  const ids = idsOf(lines)
  return {
    agreed,
    assignment: assign(ids, agreed.map(voteOf)),
    isPossible: assign(ids, voters.map(voteOf)) !== undefined,
  }
}

/** Those who were asked in several lines or together with others have a set of receipts, which the service completes. */
export const isSeveral = (row: Pick<ApprovalRow, 'lines'>): boolean => {
  const [line, ...others] = readLines(row)
  return others.length > 0 || line?.people.length !== 1
}

/** Whether somebody can be asked who leaves their line while the request waits. */
export const asksGroup = (row: Pick<ApprovalRow, 'lines'>): boolean =>
  readLines(row).some(({ group }) => group !== null)

/** What proves a completed request: the receipts of all who agreed, with the completion that the service signs. */
export const completedSet = (
  call: Call,
  row: ApprovalRow,
  { agreed, assignment }: Pick<Tally, 'agreed' | 'assignment'>,
): Promise<ReceiptSet> => {
  const [first, ...others] = agreed.map(({ receipt }) => receipt!)
  const excluded = (JSON.parse(row.excluded) as Excluded[]).map(({ user_id, reason }) => ({
    user_id: String(user_id),
    reason,
  }))
  return createSet(
    { receipts: [first!, ...others], completedAt: new Date(call.now), excluded, assignment },
    (claims, typ) => call.keyring.sign(claims, typ, call.db),
  )
}
