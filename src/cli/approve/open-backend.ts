import type { Client } from '../../client/client.ts'
import { createRestGateway, hasApprovals } from '../../client/rest-gateway.ts'
import { approvalStates } from '../../contract/approval-state.ts'
import { approval, type ApprovalRecord } from '../../contract/approval.ts'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import type { Settings } from '../context/settings.ts'
import { placeOf, secondsLeft, type Backend, type Wanted } from './backend.ts'
import { createProven } from './proven.ts'

/** How a third-party service answers on the routes of the approvals. */
const isAbsent = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.exit === 'notFound' || error.code === 'http_405')

/** Whether an error means that the service in use has no `/svc/v1/approvals`. */
export const lacksApprovals = async (failure: unknown, context: Context): Promise<boolean> => {
  if (!isAbsent(failure)) return false
  const client = await context.client()
  return !(await hasApprovals(client))
}

/** Explains that the tool server of the profile was not used because it belongs to another service. */
const unusedToolServer = (origin: string, { profile, otherMcpUrl }: Settings): string | undefined =>
  otherMcpUrl === undefined
    ? undefined
    : `The tool server ${otherMcpUrl.value} of profile "${profile.value}" was not used, because the profile does not set it for ${origin}.`

/** The error if the service has no approvals and no tool server may be used instead. */
export const noApprovals = (settings: Settings, through?: Wanted['through']): SvcError => {
  const { origin } = new URL(settings.baseUrl.value)
  return new SvcError('failed', 'no_approvals', `${origin} has no approvals (/svc/v1/approvals)`, {
    detail: unusedToolServer(origin, settings),
    hint:
      through === 'service'
        ? 'svc serve starts a service that has them'
        : 'To use its tool server: svc profile set mcp_url=https://host.example/mcp, or SVC_MCP_URL',
  })
}

/** Tracks the difference between the two clocks from the `Date` of each answer. */
const withClock = (client: Client, now: () => number): { client: Client; now(): number } => {
  let ahead = 0
  return {
    now: () => now() + ahead,
    client: {
      ...client,
      call: async (...call) => {
        const answer = await client.call(...call)
        const serviceTime = Date.parse(answer.date ?? '')
        // The header counts whole seconds.
        if (Math.abs(serviceTime - now() - ahead) > 1500) ahead = serviceTime - now()
        return answer
      },
    },
  }
}

const unclear = (message: string): SvcError =>
  new SvcError('failed', 'unexpected_answer', message, {
    detail: 'This is not an approval.',
    hint: 'svc profile show --explain shows the address in use',
  })

/** Checks a record: a third-party service may report success without one, which is neither a request nor a decision. */
const checked = (record: ApprovalRecord | undefined, expectedId?: string): ApprovalRecord => {
  const { request_id, status, action, approver_mobile } = record ?? {}
  if ([request_id, status, action, approver_mobile].some((text) => typeof text !== 'string'))
    throw unclear('The service returned no request with a status')
  if (!approvalStates.some((state) => state === status))
    throw unclear(
      `The service reports the status "${safeLine(status!.slice(0, 40))}", which svc does not know`,
    )
  if (expectedId !== undefined && request_id !== expectedId)
    throw unclear('The service returned another request')
  return record!
}

/** Checks that a new request is pending: nobody can have decided it yet. */
const opened = (record: ApprovalRecord): ApprovalRecord => {
  if (checked(record).status === 'pending') return record
  throw unclear('The service reports a decision before the person can have made one')
}

/** Opens the tools of a service without approvals. */
const openElsewhere = async (context: Context, wanted: Wanted): Promise<Backend> => {
  const settings = await context.settings()
  if (!settings.mcpUrl || wanted.through === 'service') throw noApprovals(settings, wanted.through)
  const { openToolBackend } = await import('./tool-server.ts')
  return openToolBackend(context, wanted)
}

/** Asks through the REST API of our service, and finds out at the first answer whether it is one. */
const openRestBackend = async (context: Context, wanted: Wanted): Promise<Backend> => {
  const { io } = context
  const [{ baseUrl }, plain] = await Promise.all([context.settings(), context.client()])
  const { client, now } = withClock(plain, () => io.now().getTime())
  const here = createRestGateway({ client })
  const place = placeOf(baseUrl.value)
  const proven = createProven({ ...place, now }, context)
  let other: Backend | undefined
  let opening: Promise<Backend> | undefined
  const gateway = (): ApprovalGateway => other?.gateway ?? here

  /** Uses the service until it turns out to have no approvals, and its tools from then on. */
  const either = async <T>(work: (gateway: ApprovalGateway) => Promise<T>): Promise<T> => {
    if (other) return work(other.gateway)
    try {
      return await work(here)
    } catch (error) {
      if (!(await lacksApprovals(error, context))) throw error
      opening ??= openElsewhere(context, wanted)
      other = await opening
      return work(other.gateway)
    }
  }

  return {
    now,
    secondsLeft: (record) => secondsLeft(record, now()),
    get origin() {
      return other?.origin ?? place.origin
    },
    get local() {
      return other?.local ?? place.local
    },
    get tools() {
      return other !== undefined
    },
    get namesRequests() {
      return other === undefined
    },
    // The context closes its client.
    close: async () => other?.close(),
    gateway: {
      get boundToAction() {
        return gateway().boundToAction
      },
      get notice() {
        return gateway().notice
      },
      request: (ask) =>
        either(async (by) =>
          by === here ? proven.asked(ask, opened(await here.request(ask))) : by.request(ask),
        ),
      status: (id) =>
        either(async (by) => {
          const record = await by.status(id)
          return by === here ? proven.checked(checked(record, id)) : record
        }),
      wait: async (id, seconds, signal) => {
        const record = await gateway().wait(id, seconds, signal)
        return other ? record : proven.checked(checked(record, id))
      },
      cancel: (id) => gateway().cancel(id),
      get consume() {
        return gateway().consume
      },
    },
    poll: async (request_id, wait_s, signal) => {
      if (other) return other.gateway.wait(request_id, wait_s, signal)
      const { envelope } = await client.call(approval.getApproval, { request_id, wait_s }, { signal })
      return proven.checked(checked(envelope.data, request_id))
    },
  }
}

export const openBackend = async (context: Context, wanted: Wanted = {}): Promise<Backend> => {
  if (wanted.through !== 'tools') return openRestBackend(context, wanted)
  return (await import('./tool-server.ts')).openToolBackend(context, wanted)
}
