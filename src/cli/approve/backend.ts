import type { Client } from '../../client/client.ts'
import { createRestAsker, hasApprovals } from '../../client/rest-asker.ts'
import { approval, type ApprovalRecord } from '../../contract/approval.ts'
import type { Asker } from '../../contract/asker.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { isLoopback } from '../profile/address.ts'

/** Whom svc asks through, and what else it needs to know of the other side. */
export type Backend = {
  asker: Asker
  /** As `asker.wait`, but a lost connection is told at once and not waited out. */
  poll: Asker['wait']
  /** The service's clock, milliseconds: this machine's may be an hour off. */
  now(): number
  /** Until the request lapses; infinite where nobody says. */
  secondsLeft(record: ApprovalRecord): number
  /** Scheme, host and port of the service, where its keys are. */
  origin: string
  /** A receipt names a request as the backend does; a tool that waits tells its request's id to nobody. */
  namesRequests: boolean
  /** On this machine: receipts of software keys count there. */
  local: boolean
  close(): Promise<void>
}

type Wanted = {
  /** Ask the tool server instead of the REST API. */
  mcp?: boolean
  /** Who asks, as the approver reads it. */
  requester?: string
  /** Refuse, before anybody is rung, where the person does not see the action. */
  bound?: boolean
}

const secondsLeft = (record: ApprovalRecord, now: number): number => {
  const [from, to] = [Date.parse(record.requested_at), Date.parse(record.expires_at)]
  return to > from ? (to - now) / 1000 : Infinity
}

const at = (url: string) => {
  const { origin } = new URL(url)
  return { origin, local: isLoopback(new URL(url)) }
}

/** Keeps the difference between the two clocks, from the `Date` of each answer. */
const withClock = (client: Client, now: () => number): { client: Client; now(): number } => {
  let ahead = 0
  return {
    now: () => now() + ahead,
    client: {
      ...client,
      call: async (...call) => {
        const answer = await client.call(...call)
        const told = Date.parse(answer.date ?? '')
        // The header counts whole seconds.
        if (Math.abs(told - now() - ahead) > 1500) ahead = told - now()
        return answer
      },
    },
  }
}

/** Another service may say success and tell nothing: that is neither a request nor a decision. */
const checked = (record: ApprovalRecord | undefined): ApprovalRecord => {
  const { request_id, status, action, approver_mobile } = record ?? {}
  if ([request_id, status, action, approver_mobile].every((text) => typeof text === 'string')) return record!
  throw new SvcError('failed', 'unexpected_answer', 'The service tells no request and no state', {
    detail: 'That is no approval.',
    hint: 'svc profile show --explain names the address in use',
  })
}

const notBound = (origin: string): SvcError =>
  new SvcError(
    'failed',
    'not_bound',
    `${origin} asks people to authenticate and does not show them the action, so nothing can be done on its word`,
    { hint: 'svc approve request asks there all the same; svc serve starts a service that shows the action' },
  )

const openRest = async (context: Context, { bound }: Wanted): Promise<Backend> => {
  const { io } = context
  const [{ baseUrl }, plain] = await Promise.all([context.settings(), context.client()])
  const { client, now } = withClock(plain, () => io.now().getTime())
  let asker = createRestAsker({ client })
  const rest = asker

  /** Another service of the contract rings a phone too, and knows nothing of what is asked. */
  const elsewhere = async (): Promise<Asker | undefined> => {
    if (await hasApprovals(client, baseUrl.value)) return undefined
    if (bound) throw notBound(new URL(baseUrl.value).origin)
    const [{ createVerifyAsker }, { partsOf }] = await Promise.all([
      import('../../client/verify-asker.ts'),
      import('../phone-parts.ts'),
    ])
    return createVerifyAsker({ client, partsOf })
  }

  return {
    ...at(baseUrl.value),
    now,
    secondsLeft: (record) => secondsLeft(record, now()),
    namesRequests: true,
    // The context closes its client.
    close: async () => undefined,
    asker: {
      get boundToAction() {
        return asker.boundToAction
      },
      request: async (ask) => {
        try {
          return checked(await asker.request(ask))
        } catch (error) {
          const absent = error instanceof SvcError && (error.exit === 'notFound' || error.code === 'http_405')
          if (!absent) throw error
          const other = await elsewhere()
          if (!other) throw error
          asker = other
          return asker.request(ask)
        }
      },
      status: async (id) => checked(await asker.status(id)),
      wait: (id, seconds, signal) => asker.wait(id, seconds, signal),
      cancel: (id) => asker.cancel(id),
    },
    poll: async (request_id, wait_s, signal) => {
      if (asker !== rest) return asker.wait(request_id, wait_s, signal)
      const { envelope } = await client.call(approval.getApproval, { request_id, wait_s }, { signal })
      return checked(envelope.data as ApprovalRecord | undefined)
    },
  }
}

const openMcp = async (context: Context, { requester }: Wanted): Promise<Backend> => {
  const { io } = context
  const [{ createMcpAsker }, { openTools }, { personIn, ringOnce }] = await Promise.all([
    import('../../client/mcp-asker.ts'),
    import('./open-tools.ts'),
    import('../rings.ts'),
  ])
  const { url, tools, close } = await openTools(context, requester)
  const asker = createMcpAsker({ tools, now: () => io.now() })
  const now = (): number => io.now().getTime()
  return {
    ...at(url),
    namesRequests: false,
    now,
    secondsLeft: (record) => secondsLeft(record, now()),
    asker: {
      ...asker,
      get boundToAction() {
        return asker.boundToAction
      },
      get notice() {
        return asker.notice
      },
      // What became of an earlier one, another run of svc cannot ask here.
      request: (ask) =>
        ringOnce(context, personIn({ cli: 'approve request' }, ask)!, {
          origin: new URL(url).origin,
          send: () => asker.request(ask),
        }),
    },
    poll: asker.wait,
    close,
  }
}

export const openBackend = (context: Context, wanted: Wanted = {}): Promise<Backend> =>
  wanted.mcp ? openMcp(context, wanted) : openRest(context, wanted)
