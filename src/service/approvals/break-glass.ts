import { addMs, dayMs } from '../../core/iso-time.ts'
import { conflict, forbidden, invalid, type Refusal } from '../../core/refusal.ts'
import type { Rule } from '../../contract/rule-shape.ts'
import type { Call, RequiredLine } from '../call/call.ts'
import { administrators } from '../devices/administrators.ts'
import { namesOf } from '../devices/notices.ts'
import { reachableAmong, rulingOf } from '../devices/unheard.ts'
import { consume } from '../limits/rate-limit.ts'
import type { Book } from '../policy/group-rows.ts'
import { emergencyLinesOf } from '../policy/rules.ts'
import { readableOf } from './genuine.ts'
import { storeChanged } from '../storage/store-changed.ts'
import { type BreakGlass, brokenBy, readBreakGlass } from './broken-glass.ts'

// Break-glass: in an emergency, one member of another group approves instead of the people whom the rules ask, and everybody is
// told before anybody can answer.

/** At most, in seconds. */
export const emergencyLifetime = 900

/** Of an organization, whose requests count unless they led to nothing. */
const mostApproved = 3
const mostRead = 100
/** Of one person, whose requests all count: each notifies everybody. */
const askedByOne = { kind: 'break-glass', atMost: 5, windowMs: dayMs }

const notAllowed = (message: string, hint: string): Refusal =>
  conflict('break_glass_not_allowed', message, hint)

/** Refuses everybody but a person with the key of their own terminal: somebody must answer for it. */
const requireSignedIn = ({ caller }: Call, via: 'api' | 'tools'): void => {
  // Whoever typed a code cannot know whose terminal it signed in.
  if (caller.signedInWith === undefined || caller.ownerId === undefined || caller.byCode || via === 'tools')
    throw forbidden(
      'break_glass_not_signed_in',
      'Only a person who signed in with a browser on their terminal can break the glass, and not an agent or any other key',
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

/** Refuses an organization that broke the glass three times within a day, and a person who did, until somebody reviewed it. */
const requireLeft = async ({ db, now, caller, keyring }: Call, orgId: number): Promise<void> => {
  const latest = await db
    .selectFrom('approvals')
    .where('org_id', '=', orgId)
    .where('break_glass', 'is not', null)
    .selectAll()
    .orderBy('id', 'desc')
    .limit(mostRead)
    .execute()
  // One without a MAC cannot be used any more.
  const altered = latest.find((row) => row.row_mac !== null && !keyring.holds('approvals', row))
  if (altered) throw storeChanged(`the request ${altered.request_id} is not as it was`)
  const rows = latest.map(readableOf).filter(
    ({ requested_at, use_by, status, expires_at }) =>
      requested_at > addMs(now, -dayMs) &&
      // Without those that led to nothing.
      (use_by !== null || (status === 'pending' && expires_at > now)),
  )
  const open = rows.find(
    (row) =>
      // A review that another program wrote into the store is none.
      !(readBreakGlass(row)?.review && keyring.holds('approvals', row)) && brokenBy(row) === caller.ownerId,
  )
  if (open)
    throw conflict(
      'break_glass_unreviewed',
      `You broke the glass with ${open.request_id}, which nobody has reviewed`,
      `One of the people whom it skipped reviews it: svc approve review ${open.request_id} --ok. Without that, you can after ${addMs(open.requested_at, dayMs)}`,
    )
  if (rows.length >= mostApproved)
    throw conflict(
      'break_glass_exhausted',
      `The organization broke the glass ${mostApproved} times within a day`,
      `The next time is possible after ${addMs(rows.at(-1)!.requested_at, dayMs)}. Before that, the operator of the service can change the rules`,
    )
}

/**
 * Whom the request skips, which is nobody whom it asks, and who is told: the people of the rules, the administrators and the
 * person in whose name it is. Fails with 409 if this person or the organization must not break the glass now, or if one of the
 * people of the rules could get no message.
 */
export const breakGlass = async (
  call: Call,
  orgId: number,
  { reason, lines, asked }: { reason: string; lines: readonly RequiredLine[]; asked: ReadonlySet<number> },
): Promise<BreakGlass> => {
  await requireLeft(call, orgId)
  const ruling = await rulingOf(call, orgId, lines)
  const skipped = ruling.filter((id) => !asked.has(id))
  if (skipped.length === 0)
    throw notAllowed('The rules ask nobody else, so there is nobody to skip', 'Leave out --break-glass')
  const admins = await administrators(call.db, orgId).select('m.user_id').execute()
  const concerned = new Set([...ruling, ...admins.map(({ user_id }) => user_id), call.caller.ownerId!])
  const reachable = await reachableAmong(call, orgId, [...concerned])
  // Also those who are asked: the request notifies nobody who is away.
  const unheard = ruling.filter((id) => !reachable.has(id))
  if (unheard.length > 0)
    throw conflict(
      'break_glass_unheard',
      `The people of the rules must be told, and nobody can tell ${(await namesOf(call.db, orgId, unheard)).join(', ')}: svc can send them no e-mail, and they have no notifications`,
      'The glass stays whole. They allow notifications on their phone, or the operator sets up e-mail',
    )
  const of = { org_id: orgId, subject: String(call.caller.ownerId) }
  const { taken, next_at } = await consume(call, askedByOne, of)
  if (!taken)
    throw conflict(
      'break_glass_asked_often',
      `You notified everybody of an emergency ${askedByOne.atMost} times within a day`,
      `You can again after ${next_at}. Until then, another person can ask`,
    )
  return { reason, skipped, told: [...reachable].toSorted((a, b) => a - b) }
}
