import { onlyPerson } from '../../contract/approvers.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask, ApprovalGateway } from '../../contract/approval-gateway.ts'
import { newRequest } from '../../contract/new-request.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { randomToken } from '../../core/ids.ts'
import { sleepFor } from '../../core/sleep.ts'
import {
  otherRequest,
  readNewRequestId,
  receiptOf,
  requireAbout,
  stateOf,
  statusIn,
  text,
  type ToolAnswer,
} from './tool-answer.ts'
import type { ToolClient } from './tool-client.ts'
import { within } from '../../core/within.ts'

const lifetimeSeconds = 300
const patienceMs = 30_000
const mostNamed = 1_000

type Options = {
  tools: ToolClient
  /** What an earlier run stored about a request. */
  recall?(request_id: string): Partial<ApprovalRecord> | undefined
  now?(): Date
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
}

type Call = {
  record: ApprovalRecord
  ended: Promise<ApprovalRecord>
  abort: AbortController
  /** The id of a request that the other server left open when it answered. */
  open?: string | undefined
}

const localPrefix = 'mcp_'

/** Whether this process made the id: a call that waits learns the id of its request only at its end, if ever. */
export const isLocalId = (request_id: string): boolean => request_id.startsWith(localPrefix)

/** The only person asked: the tools of the specification name one. Undefined if nobody is named. */
const onlyOne = (approvers: readonly string[] | undefined): string | undefined => {
  if (!approvers) return undefined
  const mobile = onlyPerson(approvers)
  if (mobile !== undefined) return mobile
  throw usageError(
    `A tool server can ask one person only, not "${approvers.join(' ')}"`,
    'Name one number, or ask through the REST API: svc profile login --ask',
  )
}

/** The arguments of the tool call. Throws a usage error for several people. */
export const argumentsOf = ({
  action,
  reason,
  approvers,
  default_factors,
  factors = default_factors,
  subject,
}: Ask): ToolAnswer =>
  Object.fromEntries(
    Object.entries({ action, reason, approver_mobile: onlyOne(approvers), factors, subject }).filter(
      ([, value]) => value !== undefined,
    ),
  )

/**
 * Requests approvals through the tools of another server. A request with a lifetime is one waiting call, because only such a
 * call can be withdrawn; one without a lifetime is asynchronous.
 */
export const createMcpGateway = ({
  tools,
  recall = () => undefined,
  now = () => new Date(),
  sleep = sleepFor,
}: Options): ApprovalGateway => {
  /** Throws if nobody is named, and this tool cannot be called without a number. */
  const requireNumber = async (tool: string, { approvers }: Ask): Promise<void> => {
    if (approvers) return
    const { inputSchema } = (await tools.list()).find(({ name }) => name === tool) ?? {}
    const required = isRecord(inputSchema) ? inputSchema.required : undefined
    if (Array.isArray(required) && required.includes('approver_mobile'))
      throw usageError('This tool server requires the number of one person', 'Name one: --to +12025550101')
  }

  const calls = new Map<string, Call>()
  const known = new Map<string, ApprovalRecord>()
  /** What was asked under each id of the server. Only an identical request can have the same id. */
  const named = new Map<string, string>()
  let bound = true
  let notice: string | undefined

  const blank = (ask: Ask, request_id: string, seconds: number): ApprovalRecord =>
    newRequest(ask, { request_id, at: now().getTime(), seconds })

  /** A request of another run. A tool server reports little about it; the other fields stay empty. */
  const unknown = (request_id: string): ApprovalRecord => ({
    ...blank({ action: '', requester: '' }, request_id, 0),
    requested_at: '',
    expires_at: '',
    ...recall(request_id),
  })

  const apply = (record: ApprovalRecord, answer: ToolAnswer, expected?: string): ApprovalRecord => {
    const status = expected === undefined ? stateOf(answer) : statusIn(answer, expected)
    requireAbout(answer, record.approver_mobile, expected)
    if (answer.bound_to_action === false) bound = false
    notice = text(answer.notice) ?? notice
    return Object.assign(record, {
      status,
      approver_mobile: text(answer.approver_mobile) ?? record.approver_mobile,
      expires_at: text(answer.expires_at) ?? record.expires_at,
      number: text(answer.number) ?? record.number,
      attestation: receiptOf(answer.attestation),
    })
  }

  const requireOwn = (ask: Ask, { request_id }: ToolAnswer): void => {
    const [id, about] = [text(request_id), JSON.stringify(argumentsOf(ask))]
    if (id === null) return
    if ((named.get(id) ?? about) !== about) throw otherRequest(id)
    if (named.size >= mostNamed) named.delete(named.keys().next().value!)
    named.set(id, about)
  }

  const start = (ask: Ask, timeout_s: number): ApprovalRecord => {
    const record = blank(ask, `${localPrefix}${randomToken(9)}`, timeout_s)
    const abort = new AbortController()
    const call: Call = { record, abort, ended: Promise.resolve(record) }
    call.ended = tools
      .call(
        'request_approval',
        { ...argumentsOf(ask), timeout_s },
        {
          signal: abort.signal,
          timeoutMs: timeout_s * 1000 + patienceMs,
        },
      )
      .then((answer) => {
        requireOwn(ask, answer)
        apply(record, answer)
        if (record.status === 'pending') call.open = text(answer.request_id) ?? undefined
        return record
      })
    call.ended.catch(() => undefined)
    calls.set(record.request_id, call)
    return record
  }

  const check = async (record: ApprovalRecord, request_id: string): Promise<ApprovalRecord> =>
    apply(record, await tools.call('check_status', { request_id }), request_id)

  const read = async (request_id: string): Promise<ApprovalRecord> => {
    const call = calls.get(request_id)
    if (!call) return check(known.get(request_id) ?? unknown(request_id), request_id)
    return call.open === undefined ? afterAtMost(call, 0) : check(call.record, call.open)
  }

  /** The record of a pending call, after at most `ms`. */
  const afterAtMost = ({ record, ended }: Call, ms: number, signal?: AbortSignal): Promise<ApprovalRecord> =>
    within(ended, { ms, signal, late: () => record, sleep })

  return {
    get boundToAction() {
      return bound
    },
    get notice() {
      return notice
    },
    request: async (ask) => {
      if (ask.number) throw new SvcError('refused', 'not_supported', 'A tool server cannot require a number')
      if (ask.requester !== undefined) tools.introduce(ask.requester)
      await requireNumber(ask.lifetime_s === undefined ? 'request_approval_async' : 'request_approval', ask)
      if (ask.lifetime_s !== undefined) return start(ask, ask.lifetime_s)
      const answer = await tools.call('request_approval_async', argumentsOf(ask))
      const record = blank(ask, readNewRequestId(answer), lifetimeSeconds)
      requireOwn(ask, answer)
      apply(record, answer)
      known.set(record.request_id, record)
      return record
    },
    status: read,
    // A tool answers at once; whoever waits asks again.
    wait: async (request_id, seconds, signal) => {
      const call = calls.get(request_id)
      if (call && call.open === undefined) {
        const record = await afterAtMost(call, seconds * 1000, signal)
        // The caller may have to pass the number on.
        if (record.status !== 'pending' || call.open === undefined || record.number !== null) return record
      }
      return read(request_id)
    },
    withdraw: async (request_id) => {
      const call = calls.get(request_id)
      if (!call || call.open !== undefined)
        throw new SvcError(
          'refused',
          'not_supported',
          'The tool server left this request open, so it cannot be withdrawn',
        )
      if (call.record.status === 'pending')
        Object.assign(call.record, { status: 'expired', detail: 'Withdrawn.' })
      call.abort.abort()
      await call.ended.catch(() => undefined)
    },
  }
}
