import type { SvcError } from '../../core/errors.ts'
import { withFullStop } from '../../core/sentence.ts'
import type { Refusal } from '../../core/refusal.ts'

type Failure = Refusal | SvcError

const advice: Record<string, string> = {
  approver_not_enrolled:
    'tell the user that this approver has no registered phone and that an administrator must register one; do not try to do it yourself',
  scope_missing:
    'tell the user that the key of these tools cannot request approvals, and that an administrator must create one with the scope "ask"',
  too_many_pending: 'wait for the requests that are pending: call check_status with their request_id',
  too_many_rings: 'send fewer requests, and tell the user that the approver has been asked several times',
  muted:
    'tell the user that the approver did not expect your last request; do not ask again under another name',
}

/** Seconds after which another attempt is allowed. */
const retryAfter = (failure: Failure): number | undefined => {
  const seconds =
    'headers' in failure ? Number(failure.headers['retry-after']) : (failure.retry_after_ms ?? NaN) / 1000
  return seconds > 0 ? Math.ceil(seconds) : undefined
}

// A command for an administrator is not advice for an agent.
const isCommand = /(?:^|\W)svc |--[a-z]/

const nextStep = ({ code, hint, issues = [] }: Failure): string | undefined => {
  if (Object.hasOwn(advice, code)) return advice[code]
  if (issues.some(({ field }) => field === 'approvers') && hint?.includes('--to'))
    return 'ask the user for the mobile number of the approver, and pass it as approver_mobile in E.164, such as +12025550101'
  if (issues.some(({ field }) => field === 'reason') && hint?.includes('--reason'))
    return `ask the user for the reason, and pass it as reason, such as ${hint.slice(hint.indexOf('--reason ') + 9)}`
  if (issues.some(({ field }) => field === 'org_id'))
    return 'tell the user that the tools need the API key of one organization, because this approver is in several'
  if (issues.some(({ field }) => field === 'factors'))
    return (
      hint?.replace(
        /^Leave it out, or first: /,
        'leave that factor out, or tell the user that an administrator must run ',
      ) ?? 'leave that factor out, or tell the user'
    )
  return hint !== undefined && isCommand.test(hint) ? 'tell the user' : hint
}

// It does not claim that nothing was approved, which is unknown here.
const noApproval = 'This is not an approval.'

/** Tells an agent what is wrong, what to do next, and when. */
export const explain = (failure: Failure): string => {
  const { message, issues = [] } = failure
  // Another tool server may have appended this sentence already.
  const text = message.endsWith(noApproval) ? message.slice(0, -noApproval.length).trimEnd() : message
  const what = issues.map((issue) => `${issue.field} ${issue.message}`).join('; ') || text
  const [next, wait] = [nextStep(failure), retryAfter(failure)]
  return [
    what && withFullStop(what),
    next && `Next: ${withFullStop(next)}`,
    wait !== undefined && `Try again after ${wait} s.`,
    // What remains unknown if the answer of another server cannot be read.
    'detail' in failure && failure.code === 'unexpected_answer' && failure.detail,
    noApproval,
  ]
    .filter(Boolean)
    .join(' ')
}
