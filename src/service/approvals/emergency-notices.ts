import type { Call } from '../call/call.ts'
import { namesOf, noticeTime, notifyMember } from '../devices/notices.ts'
import { brokenBy, readBreakGlass } from './broken-glass.ts'
import { readLines, readRules, whoAnswered } from './lines.ts'
import type { ApprovalRow } from './rows.ts'

// What everybody is told who was told that the glass was broken. It quotes nothing that the requester wrote.

/** Tells everybody, in the transaction of what happened; nobody of any other request. `but`: who did it. */
const tell = async (call: Call, row: ApprovalRow, subject: string, text: string, but?: number) => {
  const { org_id } = row
  for (const user_id of readBreakGlass(row)?.told ?? [])
    if (user_id !== but)
      await notifyMember(
        call,
        { org_id, user_id },
        {
          about: 'emergency',
          subject,
          text: [
            text,
            `Show the request: svc approve status ${row.request_id}, or ${call.service.publicUrl}/approver#decision=${row.request_id}`,
          ].join('\n'),
        },
      )
}

const namesIn = async ({ db }: Call, { org_id }: ApprovalRow, users: readonly number[]): Promise<string> =>
  (await namesOf(db, org_id, users)).join(' and ')

const rulesOf = (row: ApprovalRow): string =>
  readRules(row)
    .map(({ name }) => name)
    .join(', ')

export const tellOfRequest = async (call: Call, row: ApprovalRow): Promise<void> => {
  const who = await namesIn(call, row, [call.caller.ownerId!])
  const groups = readLines(row).map(({ group }) => `@${group!.name}`)
  const text = [
    `${who} broke the glass: the people whom the rules name (${rulesOf(row)}) are not asked.`,
    `One member of ${groups.join(' and one of ')} can approve the request until ${noticeTime(row.expires_at)}.`,
  ].join('\n')
  await tell(call, row, 'Somebody broke the glass', text)
}

export const tellOfApproval = async (call: Call, row: ApprovalRow): Promise<void> => {
  if (row.break_glass === null) return
  const who = await namesIn(call, row, [brokenBy(row)])
  const text = [
    `${await namesIn(call, row, whoAnswered(row))} approved the break-glass of ${who} (${rulesOf(row)}).`,
    `One of those whom nobody asked reviews it: svc approve review ${row.request_id} --ok, or --dispute --note WHY`,
  ].join('\n')
  await tell(call, row, 'A break-glass was approved', text)
}

export const tellOfUse = async (call: Call, row: ApprovalRow): Promise<void> => {
  if (row.break_glass === null) return
  await tell(
    call,
    row,
    'A break-glass was used',
    `What was approved by break-glass (${rulesOf(row)}) was used.`,
  )
}

export const tellOfReview = async (
  call: Call,
  row: ApprovalRow,
  { by, verdict }: { by: number; verdict: 'ok' | 'disputed' },
): Promise<void> => {
  const text = `${await namesIn(call, row, [by])} reviewed the emergency of request ${row.request_id} (${rulesOf(row)}): ${verdict}.`
  await tell(call, row, 'An emergency was reviewed', text, by)
}
