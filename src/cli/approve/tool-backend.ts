import { createMcpGateway } from '../../client/mcp-gateway.ts'
import type { Context } from '../context/context.ts'
import { personIn, ringOnce } from './rings.ts'
import { placeOf, secondsLeft, type Backend, type Wanted } from './backend.ts'
import { openTools } from './open-tools.ts'
import { openRemembered } from './remembered.ts'

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
