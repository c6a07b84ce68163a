import { addMs } from '../../core/iso-time.ts'
import { conflict, forbidden, invalid, type Refusal } from '../../core/refusal.ts'
import type { Rule } from '../../contract/rule-shape.ts'
import type { Call, RequiredLine } from '../call/call.ts'
import { administrators } from '../devices/administrators.ts'
import { nameOf, noticeTime, notifyMember } from '../devices/notices.ts'
import { consume } from '../limits/rate-limit.ts'
import type { Book } from '../policy/group-rows.ts'
import { emergencyLinesOf } from '../policy/rules.ts'
import { type BreakGlass, readBreakGlass } from './broken-glass.ts'
import { activeMembers } from './find-approver.ts'
import { ownerOf } from './key-owner.ts'
import { readLines, readRules } from './lines.ts'
import type { ApprovalRow } from './rows.ts'

// Break-glass: in an emergency, one member of another group approves instead of the people whom the rules ask, and everybody is
// told before anybody can answer.

/** At most, in seconds. */
export const emergencyLifetime = 900

const dayMs = 24 * 60 * 60_000
const aDay = { kind: 'break-glass', atMost: 3, windowMs: dayMs }

const notAllowed = (message: string, hint: string): Refusal =>
  conflict('break_glass_not_allowed', message, hint)

/** Refuses everybody but a person with the key of their own terminal: somebody must answer for it. */
const requireSignedIn = ({ caller }: Call, via: 'api' | 'tools'): void => {
  if (caller.signedInWith === undefined || caller.ownerId === undefined || via === 'tools')
    throw forbidden(
      'break_glass_not_signed_in',
      'Only a person who is signed in on a terminal can break the glass, and not an agent or any other key',
      'Sign in: svc profile login',
    )
}

/**
 * Whom a request asks that breaks the glass: one member of the group of each rule that holds it. Fails with 403, 409 or 422
 * unless a person asks and every rule allows it.
 */
export const emergencyLines = (
  call: Call,
  book: Book | undefined,
  rules: readonly Rule[],
  { via, approvers }: { via: 'api' | 'tools'; approvers: readonly string[] },
): RequiredLine[] => {
  requireSignedIn(call, via)
  if (approvers.length > 0)
    throw invalid(
      'approvers',
      'must be left out with break_glass: one member of the group of each rule is asked',
    )
  if (!book || rules.length === 0)
    throw notAllowed(
      'No rule holds this request, so there is nobody to skip',
      'Leave out --break-glass, and name who must approve: --to',
    )
  const strict = rules.find(({ break_glass }) => break_glass === undefined)
  if (strict)
    throw notAllowed(
      `The rule ${strict.name} does not allow break-glass`,
      'Ask the people whom it names: leave out --break-glass',
    )
  return rules.flatMap((rule) => emergencyLinesOf(book, rule))
}

/** Refuses whoever broke the glass within a day, unless that was reviewed or led to nothing. */
const requireReviewed = async ({ db, now, caller }: Call, orgId: number): Promise<void> => {
  const rows = await db
    .selectFrom('approvals')
    .where('org_id', '=', orgId)
    .where('break_glass', 'is not', null)
    .where('requested_at', '>', addMs(now, -dayMs))
    .where(({ eb, or, and }) =>
      or([eb('status', '=', 'approved'), and([eb('status', '=', 'pending'), eb('expires_at', '>', now)])]),
    )
    .selectAll()
    .execute()
  const open = rows.find(
    (row) =>
      readBreakGlass(row)?.review === undefined &&
      ownerOf(row, 'owner').owner?.user_id === String(caller.ownerId),
  )
  if (open)
    throw conflict(
      'break_glass_unreviewed',
      `You broke the glass with ${open.request_id}, which nobody has reviewed`,
      `One of the people whom it skipped reviews it: svc approve review ${open.request_id} --ok. Without that, you can after ${addMs(open.requested_at, dayMs)}`,
    )
}

/** Whom the request skips and who is told. Fails with 409 if this person or the organization must not break the glass now. */
export const breakGlass = async (
  call: Call,
  orgId: number,
  { reason, lines }: { reason: string; lines: readonly RequiredLine[] },
): Promise<BreakGlass> => {
  await requireReviewed(call, orgId)
  const ids = lines.flatMap(({ members }) => members).filter((id) => id !== call.caller.ownerId)
  const active = await activeMembers(call, orgId)
    .where('m.user_id', 'in', [...ids, 0])
    .execute()
  const skipped = active.map(({ user_id }) => user_id).toSorted((a, b) => a - b)
  if (skipped.length === 0)
    throw notAllowed('The rules ask nobody else, so there is nobody to skip', 'Leave out --break-glass')
  const admins = await administrators(call.db, orgId).select('m.user_id').execute()
  const told = [...new Set([...skipped, ...admins.map(({ user_id }) => user_id)])].toSorted((a, b) => a - b)
  const { taken, next_at } = await consume(call, aDay, { org_id: orgId, subject: '' })
  if (!taken)
    throw conflict(
      'break_glass_exhausted',
      `The organization broke the glass ${aDay.atMost} times within a day`,
      `The next time is possible after ${next_at}. Before that, the operator of the service can change the rules`,
    )
  return { reason, skipped, told }
}

/**
 * Notifies everybody who is skipped, and every administrator, in the transaction of the request. Fails with 409 if nobody but
 * the requester could get a message. It quotes nothing that the requester wrote.
 */
export const tellEverybody = async (
  call: Call,
  row: ApprovalRow,
  { told }: Pick<BreakGlass, 'told'>,
): Promise<void> => {
  const { org_id, request_id, expires_at } = row
  const { ownerId } = call.caller
  const who = await nameOf(call.db, { org_id, user_id: ownerId! })
  const rules = readRules(row).map(({ name }) => name)
  const groups = readLines(row).map(({ group }) => `@${group!.name}`)
  const text = [
    `${who} broke the glass: the people whom the rules name (${rules.join(', ')}) are not asked.`,
    `One member of ${groups.join(' and one of ')} can approve the request until ${noticeTime(expires_at)}.`,
    `Show the request: svc approve status ${request_id}`,
  ].join('\n')
  let heard = 0
  for (const user_id of told) {
    const sent = await notifyMember(
      call,
      { org_id, user_id },
      { about: 'emergency', subject: 'Somebody broke the glass', text },
    )
    if (user_id !== ownerId) heard += sent
  }
  if (heard === 0)
    throw conflict(
      'break_glass_unheard',
      'Nobody else can be told, so the glass stays whole: no other approver or administrator gets e-mail or notifications',
      'Ask the operator to set up e-mail, or an administrator to allow notifications on their phone',
    )
}
