import type { Keyring } from '../call/keyring.ts'
import type { ApprovalRow } from './rows.ts'

/** The columns with JSON, and what is shown instead where another program wrote something else into one of them. */
const unreadable = {
  lines: '[]',
  rules: '[]',
  excluded: '[]',
  factors: '[]',
  answers: null,
  ruling: null,
  attestation: null,
  subject_data: null,
  key_owner: null,
  unchecked_factors: null,
  grant_terms: null,
  break_glass: null,
} as const

const isReadable = (row: ApprovalRow): boolean =>
  Object.entries(unreadable).every(([column, empty]) => {
    try {
      const value: unknown = JSON.parse(row[column as keyof typeof unreadable] ?? 'null')
      return empty === null || Array.isArray(value)
    } catch {
      return false
    }
  })

/** Whether nobody but the service wrote this request, as far as decisions rely on it. */
export const isGenuine = (row: ApprovalRow, { keyring }: { keyring: Pick<Keyring, 'holds'> }): boolean =>
  keyring.holds('approvals', row) && isReadable(row)

/** The row, or what can be shown of it. */
export const readableOf = (row: ApprovalRow): ApprovalRow =>
  isReadable(row) ? row : { ...row, ...unreadable }
