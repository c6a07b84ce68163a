import { json, startFakeHosted, type Answering, type FakeHosted, type Seen } from './fake-hosted.ts'

// A service that returns what the specification shows, and nothing more. Where the specification says "not shown", it
// returns nothing: no ID, no data, no error field, no notification, no structured content.

const root = '/admin/public/api'
const envelope = { status: 'success', message: 'OK' }

/** The reads that return data. `ids` is for a service whose responses contain IDs, as text except for organizations. */
const dataOf = (route: string, ids: boolean): unknown => {
  const acme = { ...(ids && { id: 12 }), name: 'Acme', slug: 'acme' }
  const quote = { stockName: 'ACME', stockPrice: '1,234.50', stockExchangeName: 'XNAS' }
  if (route === '/organizations') return [acme]
  if (/^\/organization\/[^/]+$/.test(route)) return acme
  if (/^\/get\/stock-price\/[^/]+$/.test(route)) return quote
  return undefined
}

type Call = { jsonrpc: string; id?: unknown; method: string; params?: { name?: string } }
/** The answer of a tool, or a function that writes the whole response. */
export type Tools = Partial<Record<string, object | string | Answering>>

/** A tool that never answers. */
export const silence: object = {}

const toolNames = ['request_approval', 'request_approval_async', 'check_status']

const answerTo = ({ method, params = {} }: Call, tools: Tools): object | undefined => {
  if (method === 'initialize')
    return {
      protocolVersion: '2024-11-05',
      capabilities: { tools: {} },
      serverInfo: { name: 'exact', version: '1.0.0' },
    }
  if (method === 'tools/list')
    return { tools: toolNames.map((name) => ({ name, inputSchema: { type: 'object' } })) }
  if (method !== 'tools/call') return undefined
  const result = tools[params.name ?? ''] ?? {}
  // A complete result, for one with several parts.
  if (typeof result === 'object' && 'content' in result) return result
  return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] }
}

/** JSON-RPC 2.0 with three methods. Everything else, including notifications, is a bad request. */
const mcp =
  (tools: Tools): Answering =>
  (request, response) => {
    const call = JSON.parse(request.body) as Call
    const said = call.method === 'tools/call' ? tools[call.params?.name ?? ''] : undefined
    if (said === silence) return
    if (typeof said === 'function') return (said as Answering)(request, response)
    const result = answerTo(call, tools)
    if (result && call.id !== undefined)
      return json(200, { jsonrpc: '2.0', id: call.id, result })(request, response)
    const error = { code: -32600, message: 'Bad request' }
    return json(400, { jsonrpc: '2.0', id: call.id ?? '', error })(request, response)
  }

type Options = { ids?: boolean; routes: readonly { method: string; path: string }[]; tools?: Tools }
export type ExactHosted = FakeHosted & { mcpUrl: string; tools: Tools; rest(): Seen[] }

/** Whether `asked`, such as `GET /organization/12/users`, matches this route. */
export const matches = ({ method, path }: { method: string; path: string }, asked: string): boolean => {
  const [wanted, given] = [`${method} ${path}`.split('/'), asked.split('/')]
  return (
    wanted.length === given.length && wanted.every((word, i) => word.startsWith('{') || word === given[i])
  )
}

export const startExactHosted = async ({
  ids = false,
  routes,
  tools = {},
}: Options): Promise<ExactHosted> => {
  const service = await startFakeHosted()
  service.always((request, response) => {
    const path = request.path.replace(/\?.*/, '')
    if (path === '/health') return json(200, { ok: true, transport: 'http' })(request, response)
    if (path === '/mcp' && request.method === 'POST') return mcp(tools)(request, response)
    const route = path.replace(root, '')
    const known = path.startsWith(root) && routes.some((one) => matches(one, `${request.method} ${route}`))
    if (!known) return response.writeHead(404).end()
    if (!request.headers['x-api-key']) return response.writeHead(401).end()
    const data = request.method === 'GET' ? dataOf(route, ids) : undefined
    return json(200, { ...envelope, ...(data !== undefined && { data }) })(request, response)
  })
  return Object.assign(service, {
    mcpUrl: `${service.origin}/mcp`,
    tools,
    rest: () => service.seen.filter(({ path }) => path.startsWith(root)),
  })
}
