import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { startSvc } from '../e2e/processes.ts'

// Real nodes on one database, and a load balancer that asks /health/ready as HAProxy does.

export const operator = 'svc_op_endtoend_0123456789012345678901234567890'
export const toolToken = 'tool-token-of-at-least-32-characters'
export const masterKey = '11'.repeat(32)

export type Node = {
  /** http://127.0.0.1:port */
  origin: string
  pid: number
  log(): string
  /** Ends it with a signal; answers its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts `svc serve` on a free port and waits until it is ready. */
export const startNode = async (databaseUrl: string, args: string[] = []): Promise<Node> => {
  const child = startSvc(['serve', '--port', '0', '--no-profile', '-o', 'json', '--dev', ...args], {
    SVC_DATABASE_URL: databaseUrl,
    SVC_MASTER_KEY: masterKey,
    SVC_BOOTSTRAP_API_KEY: operator,
    MCP_AUTH_TOKEN: toolToken,
  })
  let log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text))
  const ended = once(child, 'exit') as Promise<[number | null]>
  const baseUrl = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const event = JSON.parse(line) as { event: string; base_url: string }
      if (event.event === 'ready') resolve(event.base_url)
    })
    void ended.then(([exit]) => reject(new Error(`svc serve ended with ${exit}: ${log}`)))
  })
  return {
    origin: new URL(baseUrl).origin,
    pid: child.pid!,
    log: () => log,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return (await ended)[0]
    },
  }
}

const probeMs = 100

/** Forwards each request to a node that is ready, in turn. What a node does not answer is a 502, and never sent again. */
export const startBalancer = async () => {
  const nodes = new Map<string, boolean>()
  const agent = new Agent({ keepAlive: true })
  let turn = 0
  const probe = async (origin: string): Promise<void> => {
    const ready = await fetch(`${origin}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (nodes.has(origin)) nodes.set(origin, ready)
  }
  const probing = setInterval(() => nodes.forEach((_, origin) => void probe(origin)), probeMs)
  const server = createServer((incoming, answer) => {
    const ready = [...nodes].flatMap(([origin, isReady]) => (isReady ? [origin] : []))
    const origin = ready[(turn += 1) % ready.length]
    const fail = (): void => void (answer.headersSent ? answer.destroy() : answer.writeHead(502).end('{}'))
    if (origin === undefined) return fail()
    const { method, url, headers } = incoming
    const forwarded = request(origin + url, { method, headers, agent }, (response) => {
      const { connection: _, ...kept } = response.headers
      answer.writeHead(response.statusCode!, kept)
      response.pipe(answer)
    })
    forwarded.on('error', fail)
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: async ({ origin }: Node): Promise<void> => {
      nodes.set(origin, false)
      await probe(origin)
    },
    remove: ({ origin }: Node): void => void nodes.delete(origin),
    stop: (): void => {
      clearInterval(probing)
      agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}
