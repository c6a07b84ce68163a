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

/** Seconds after which it may be tried again. */
const waitOf = (failure: Failure): number | undefined => {
  const seconds =
    'headers' in failure ? Number(failure.headers['retry-after']) : (failure.retry_after_ms ?? NaN) / 1000
  return seconds > 0 ? Math.ceil(seconds) : undefined
}

// What an administrator types is no advice for an agent.
const isCommand = /(?:^|\W)svc |--[a-z]/

const nextStep = ({ code, hint, issues = [] }: Failure): string | undefined => {
  if (Object.hasOwn(advice, code)) return advice[code]
  if (issues.some(({ field }) => field === 'org_id'))
    return 'tell the user that the tools need the API key of one organization, because this approver is in several'
  if (issues.some(({ field }) => field === 'factors')) return 'leave that factor out, or tell the user'
  return hint !== undefined && isCommand.test(hint) ? 'tell the user' : hint
}

// Not that nothing was approved: nobody here may know that.
const noApproval = 'This is not an approval.'

/** What is wrong, what to do next and when, for an agent. */
export const explain = (failure: Failure): string => {
  const { message, issues = [] } = failure
  // Another tool server has ended its own text like this.
  const said = message.endsWith(noApproval) ? message.slice(0, -noApproval.length).trimEnd() : message
  const what = issues.map((issue) => `${issue.field} ${issue.message}`).join('; ') || said
  const [next, wait] = [nextStep(failure), waitOf(failure)]
  return [
    what && withFullStop(what),
    next && `Next: ${withFullStop(next)}`,
    wait !== undefined && `Try again after ${wait} s.`,
    // What is not known, where another server gave an answer that cannot be read.
    'detail' in failure && failure.code === 'unexpected_answer' && failure.detail,
    noApproval,
  ]
    .filter(Boolean)
    .join(' ')
}
