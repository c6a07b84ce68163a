import { sha256 } from '../../core/ids.ts'
import { readBreakGlass } from './broken-glass.ts'
import { readLines } from './lines.ts'
import type { ApprovalRow } from './rows.ts'

const cleared = '(cleared)'

/** Replaces the receipt of a request: with it, somebody who kept a copy can prove that the copy is genuine. */
export const receiptDigest = (attestation: string): string => {
  const { jws, completion, use } = JSON.parse(attestation) as Partial<
    Record<'completion' | 'use', { jws: string }>
  > & { jws: string }
  return sha256((completion ?? use)?.jws ?? jws)
}

/** A request without its texts, numbers, locations and receipts. The ids, times and digests stay. */
export const withoutTexts = (row: ApprovalRow) => ({
  action: cleared,
  requester: cleared,
  approver_mobile: cleared,
  reason: null,
  number: null,
  detail: null,
  note: null,
  ruling: null,
  attestation: null,
  subject_data: null,
  asked_from: null,
  key_owner: null,
  excluded: '[]',
  break_glass: row.break_glass && JSON.stringify({ ...readBreakGlass(row), reason: cleared }),
  lines: JSON.stringify(
    readLines(row).map((line) => {
      const people = line.people.map(({ user_id }) => ({ user_id, name: cleared, mobile: cleared }))
      return Object.assign(line, { people })
    }),
  ),
})

/** What a ballot of a cleared request keeps is the person, the answer and its time. */
export const ballotWithoutTexts = {
  mobile: cleared,
  name: cleared,
  nonce: '',
  attestation: null,
  decision_digest: null,
  row_mac: null,
}
