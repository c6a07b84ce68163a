import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
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

/**
 * Forwards each request to a node that is ready, in turn, and to the next one if a node refused the connection, as HAProxy does
 * with the settings of docs/scale.md. Anything else that a node does not answer is a 502 with the reason.
 */
export const startBalancer = async () => {
  const nodes = new Map<string, boolean>()
  const agent = new Agent({ keepAlive: true })
  let turn = 0
  const note = (origin: string, ready: boolean): void => void (nodes.has(origin) && nodes.set(origin, ready))
  const probe = (origin: string): Promise<void> =>
    fetch(`${origin}/health/ready`).then(
      ({ status }) => note(origin, status === 200),
      () => note(origin, false),
    )
  const probing = new Set<string>()
  /** One probe at a time: on a busy machine the answer to an earlier one could arrive last. */
  const probeAll = (): void => {
    for (const origin of nodes.keys()) {
      if (probing.has(origin)) continue
      probing.add(origin)
      void probe(origin).then(() => probing.delete(origin))
    }
  }
  const timer = setInterval(probeAll, probeMs)

  const forward = (incoming: IncomingMessage, body: Buffer, answer: ServerResponse): void => {
    const fail = (reason: string): void =>
      void (answer.headersSent ? answer.destroy() : answer.writeHead(502).end(JSON.stringify({ reason })))
    const ready = [...nodes].flatMap(([origin, isReady]) => (isReady ? [origin] : []))
    const origin = ready[(turn += 1) % ready.length]
    if (origin === undefined) return fail('no node is ready')
    const { method, url, headers } = incoming
    const forwarded = request(origin + url, { method, headers, agent }, (response) => {
      const { connection: _, ...kept } = response.headers
      answer.writeHead(response.statusCode!, kept)
      response.pipe(answer)
    })
    forwarded.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      if (code !== 'ECONNREFUSED') return fail(code)
      note(origin, false)
      forward(incoming, body, answer)
    })
    forwarded.end(body)
  }
  // It never closes an idle connection, which a busy client could be about to use.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, answer) => {
    void buffer(incoming).then(
      (body) => forward(incoming, body, answer),
      () => answer.destroy(),
    )
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
      clearInterval(timer)
      agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}
