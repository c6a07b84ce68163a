import { assign, type Yes } from '../core/assignment.ts'
import type { ReceiptClaims } from './claims.ts'
import type { ApprovalContext } from './context.ts'
import { lineName, neededIn, yesOf } from './lines.ts'
import { sameJson } from './same-json.ts'
import type { CompletionClaims } from './set.ts'
import type { Note } from './signature.ts'
import { skew, timeText } from './time-text.ts'

const areDistinct = (all: readonly string[]): boolean => new Set(all).size === all.length

/** What everybody is asked: the context without what differs between people. */
const questionIn = (context: ApprovalContext) => ({
  ...context,
  approver: null,
  nonce: null,
  decision: null,
  note: null,
})

const requestIn = ({ iss, jti, organization, subject, lines, rules }: ReceiptClaims | CompletionClaims) => {
  const { type, digest } = subject
  return { iss, jti, organization, subject: { type, digest }, lines, rules }
}

/** Whether it gives each line the people that it needs, and no person to two lines. */
const isAssignment = (
  stated: CompletionClaims['assignment'],
  lines: CompletionClaims['lines'],
  yeses: readonly Yes[],
): boolean =>
  stated.length === lines.length &&
  areDistinct(stated.flat()) &&
  lines.every(({ people, need }, at) => {
    const named = stated[at]!
    const counts = (id: string) => people.includes(id) && yeses.some((yes) => yes.id === id && yes.counts(at))
    return named.length === need && named.every(counts)
  })

/** Checks that valid receipts, each of one person, are together an approval. No count or assignment is believed. */
export const checkTogether = (
  receipts: readonly ReceiptClaims[],
  contexts: readonly ApprovalContext[],
  completion: CompletionClaims,
  note: Note,
): void => {
  const { lines, assignment, excluded, ballots, iat } = completion
  note(
    'agreement',
    receipts.every(({ status }) => status === 'approved'),
    'everybody whose receipt is in the set agreed',
  )
  const isOneQuestion = contexts.every((context) => sameJson(questionIn(context), questionIn(contexts[0]!)))
  note('same question', isOneQuestion, 'everybody signed the same request, with the same lines and times')
  const isSame = receipts.every((one) => sameJson(requestIn(one), requestIn(completion)))
  if (!note('same request', isSame, `the completion is for ${completion.jti} of ${completion.iss}`)) return

  const ids = receipts.map(({ approver }) => approver.user_id)
  const numbers = receipts.map(({ sub }) => sub)
  const named = ballots.map(({ user_id }) => user_id)
  note(
    'people',
    areDistinct(ids) && areDistinct(numbers) && ids.join() === named.join(),
    `each receipt is of another person: users ${ids.join(', ')}`,
  )
  note(
    'keys',
    areDistinct(receipts.map(({ evidence }) => evidence.public_key)),
    'each person signed with another key',
  )

  const isLeftOut = (id: string): boolean => excluded.some(({ user_id }) => user_id === id)
  const contradiction = lines.some(({ separated, people }) => separated && people.some(isLeftOut))
  note('exclusions', !contradiction, 'nobody who was left out is in the line of a group or a rule')
  const yeses = receipts.map(yesOf)
  note(
    'lines',
    assign(lines, yeses) !== undefined,
    `${ids.length} agreed of the ${neededIn(lines)} who are needed, each for one line`,
  )
  const agreed = lines.map((line, at) => `${lineName(line)}: users ${assignment[at]?.join(', ')}`)
  note('assignment', isAssignment(assignment, lines, yeses), agreed.join('; '))

  const last = Math.max(...receipts.map((one) => one.iat))
  const expires = Date.parse(contexts[0]!.request_expires_at) / 1000
  note(
    'completed',
    iat >= last && iat <= Math.ceil(expires) + skew,
    `completed at ${timeText(iat)}, the last decision at ${timeText(last)}, valid until ${timeText(expires)}`,
  )
}
