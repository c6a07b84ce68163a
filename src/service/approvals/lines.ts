import type { ApprovalLine } from '../../contract/approval-line.ts'
import type { LineOfPeople } from '../../core/assignment.ts'
import type { WakeTarget } from '../storage/node-message.ts'
import { readBreakGlass } from './broken-glass.ts'
import type { ApprovalRow } from './rows.ts'

/** A person in a line, as they were when the request was made; most of the number is hidden. */
type Named = {
  user_id: number
  name: string
  mobile: string
  /** Nobody notifies them: they were away, or the requester had reached a limit. They can answer. */
  quiet?: true
}

/** People of whom `need` must agree. */
export type StoredLine = {
  people: Named[]
  need: number
  group: { id: number; name: string } | null
  /** The names of the rules that ask this line. */
  rules: string[]
  /** Of a group or a rule: a person whose device the requester can be behind does not count. */
  separated: boolean
}

/** A rule that holds a request, with the SHA-256 of what it says. */
export type HoldingRule = { name: string; digest: string }

/** Who was left out of a line, and why. */
export type Excluded = { user_id: number; name: string; reason: string }

/** What a person has answered, and when. */
type Answer = [user_id: number, status: 'approved' | 'denied', at: string]

type Stored = Pick<ApprovalRow, 'lines'>

export const readLines = ({ lines }: Stored): StoredLine[] => JSON.parse(lines) as StoredLine[]

/** The rules that held a request when it was made. */
export const readRules = ({ rules }: Pick<ApprovalRow, 'rules'>): HoldingRule[] =>
  JSON.parse(rules) as HoldingRule[]

/** As `assign` takes them. */
export const idsOf = (lines: readonly StoredLine[]): LineOfPeople[] =>
  lines.map(({ people, need }) => ({ need, people: people.map(({ user_id }) => String(user_id)) }))

/**
 * Whether people are asked what they do themselves, so that no policy keeps them from answering: a consent, or a call of the
 * operator, who is trusted.
 */
export const isOwnConsent = (byRule: boolean, lines: readonly { separated: boolean }[]): boolean =>
  byRule && lines.every(({ separated }) => !separated)

const peopleIn = (row: Stored): number[] => [
  ...new Set(readLines(row).flatMap(({ people }) => people.map(({ user_id }) => user_id))),
]

/** Everybody who is asked. */
export const poolOf = (row: Stored): number[] => {
  try {
    return peopleIn(row)
  } catch {
    // Another program changed it. It still ends, so that it does not keep others from ending.
    return []
  }
}

/** The people of lines whom nobody notifies. */
export const quietIn = (lines: readonly StoredLine[]): ReadonlySet<number> =>
  new Set(lines.flatMap(({ people }) => people.filter(({ quiet }) => quiet).map(({ user_id }) => user_id)))

/** Who was told that the glass was broken. */
const toldOf = (row: Pick<ApprovalRow, 'break_glass'>): number[] => {
  try {
    return readBreakGlass(row)?.told ?? []
  } catch {
    // As above.
    return []
  }
}

/** Those who wait for a request: its requester, and the pages of the people it asks and of those who were told of it. */
export const wakeOf = (
  row: Pick<ApprovalRow, 'request_id' | 'org_id' | 'lines' | 'break_glass'>,
): WakeTarget => ({
  request_id: row.request_id,
  org_id: row.org_id,
  users: [...new Set([...poolOf(row), ...toldOf(row)])],
})

const readAnswers = ({ answers }: Pick<ApprovalRow, 'answers'>): Answer[] =>
  JSON.parse(answers ?? '[]') as Answer[]

export const withAnswer = (row: Pick<ApprovalRow, 'answers'>, answer: Answer): string =>
  JSON.stringify([...readAnswers(row), answer])

/** Whoever has answered, by user id. */
export const whoAnswered = (row: Pick<ApprovalRow, 'answers'>): number[] => readAnswers(row).map(([id]) => id)

export const whoApproved = (row: Pick<ApprovalRow, 'answers'>): number[] =>
  readAnswers(row).flatMap(([id, status]) => (status === 'approved' ? id : []))

/** The lines of a record, with what each person has answered. */
export const toLineRecords = (row: Pick<ApprovalRow, 'lines' | 'answers'>): ApprovalLine[] => {
  const answers = new Map(readAnswers(row).map(([id, status, at]) => [id, { status, at }]))
  return readLines(row).map(({ people, need, group, rules }) => ({
    group: group?.name ?? null,
    need,
    rules,
    people: people.map(({ user_id, name, mobile, quiet }) => {
      const { status = 'pending' as const, at = null } = answers.get(user_id) ?? {}
      return {
        user_id: String(user_id),
        name,
        mobile,
        answer: status,
        answered_at: at,
        ...(quiet && { quiet }),
      }
    }),
  }))
}
