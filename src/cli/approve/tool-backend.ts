import { createMcpGateway } from '../../client/mcp-gateway.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Context } from '../context/context.ts'
import { maskPhone } from '../terminal/mask.ts'
import { openDiskCache } from '../context/disk-cache.ts'
import { personIn, ringOnce } from './rings.ts'
import { type Backend, placeOf, secondsLeft, type Wanted } from './backend.ts'
import { openTools } from './open-tools.ts'

const most = 100

/** What this machine knows of a request that it made through a tool server. The phone is masked: it is no secret of svc. */
export type Remembered = Pick<
  ApprovalRecord,
  'request_id' | 'action' | 'approver_mobile' | 'requested_at' | 'expires_at'
>

/** The requests of a profile to one tool server, newest first. Tool servers list none. */
export const openRemembered = async (context: Context, url: string) => {
  const { profile } = await context.settings()
  const cache = openDiskCache<Remembered[]>(context.io, ['requests', profile.value, url])
  const all = (): Remembered[] => cache.read()?.value ?? []
  return {
    all,
    find: (request_id: string): Remembered | undefined => all().find((one) => one.request_id === request_id),
    add: ({ request_id, action, approver_mobile, requested_at, expires_at }: ApprovalRecord): void => {
      const fresh = {
        request_id,
        action,
        approver_mobile: maskPhone(approver_mobile),
        requested_at,
        expires_at,
      }
      const others = all().filter((one) => one.request_id !== request_id)
      cache.keep([fresh, ...others].slice(0, most))
    },
  }
}

/** Asks through the three tools of the tool server at SVC_MCP_URL. */
export const openToolBackend = async (context: Context, wanted: Wanted): Promise<Backend> => {
  const { io } = context
  const { url, tools, close } = await openTools(context, wanted)
  const remembered = await openRemembered(context, url)
  const gateway = createMcpGateway({ tools, now: () => io.now(), recall: remembered.find })
  const now = (): number => io.now().getTime()
  return {
    ...placeOf(url),
    tools: true,
    namesRequests: false,
    now,
    secondsLeft: (record) => secondsLeft(record, now()),
    gateway: {
      ...gateway,
      get boundToAction() {
        return gateway.boundToAction
      },
      get notice() {
        return gateway.notice
      },
      // What became of an earlier one, another run of svc cannot ask here.
      request: (ask) =>
        ringOnce(context, personIn({ cli: 'approve request' }, ask)!, {
          origin: new URL(url).origin,
          send: async () => {
            if (!wanted.open) return gateway.request(ask)
            const record = await gateway.request({ ...ask, lifetime_s: undefined })
            remembered.add(record)
            return record
          },
        }),
    },
    poll: gateway.wait,
    close,
  }
}
