import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What a bad network does to a call. Only `after` lets it reach the service. */
export const faults = ['before', 'after', '502', 'portal', 'stalled'] as const
export type Fault = (typeof faults)[number]

/** What a network never does, for controls: the service did not get the call. */
type Lie = 'a success of nobody'
/** The service gets the call once this is settled. */
type Wait = Promise<void>
/** The service has done it, and the connection is reset before its answer begins: a browser sends the call again by itself. */
type Reset = 'reset'
type Rule = {
  method: string
  path: RegExp
  fault: Fault | Lie | Change | Wait | Reset
  times: number
  met: () => void
}
/** Replaces the answer of the service. */
type Change = (body: string, path: string) => { status?: number; body: string }

const html = (response: ServerResponse, status: number, title: string): void =>
  void response.writeHead(status, { 'content-type': 'text/html' }).end(`<h1>${title}</h1>`)

/** In the middle: a browser repeats a call by itself if its connection ends before the answer begins. */
const lose = (response: ServerResponse): void => {
  response.on('error', () => undefined)
  if (!response.headersSent)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 })
  response.write('{', () => response.socket?.destroy())
}

/** A proxy between browser and service that fails as it is told. */
export const createBadNetwork = async () => {
  let target = ''
  let rules: Rule[] = []
  const held = new Set<ServerResponse>()
  const fetched = new Set<string>()

  const ruleFor = (method: string, path: string): Rule | undefined => {
    const rule = rules.find((one) => one.method === method && one.times > 0 && one.path.test(path))
    if (!rule) return undefined
    rule.times -= 1
    rule.met()
    return rule
  }
  const forward = async (incoming: IncomingMessage, response: ServerResponse, rule?: Rule): Promise<void> => {
    const { method, headers, url = '' } = incoming
    const change = typeof rule?.fault === 'function' ? rule.fault : undefined
    const onward = request(new URL(url, target), {
      method: method!,
      headers: change ? { ...headers, 'accept-encoding': 'identity' } : headers,
    })
    // A page that gives up ends the wait at the service too.
    response.on('close', () => onward.destroy())
    onward.on('error', () => lose(response))
    onward.end(await buffer(incoming))
    onward.on('response', async (answer: IncomingMessage) => {
      if (rule?.fault === 'reset') {
        answer.resume().on('end', () => response.socket?.destroy())
        return
      }
      if (rule?.fault === 'after') {
        answer.resume().on('end', () => lose(response))
        return
      }
      if (!change) {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
        return
      }
      const { status = 200, body } = change((await buffer(answer)).toString(), url)
      const { etag: _, 'content-length': __, ...kept } = answer.headers
      response.writeHead(status, kept).end(body)
    })
  }

  const server = createServer((incoming, response) => {
    const { method = '', url = '' } = incoming
    if (method === 'GET') fetched.add(url.replace(/\?.*/, ''))
    const rule = ruleFor(method, url)
    if (rule?.fault === 'before') return lose(response)
    if (rule?.fault === 'a success of nobody')
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"status":"success","message":"Done","data":{}}')
    if (rule?.fault === '502') return html(response, 502, 'Bad Gateway')
    if (rule?.fault === 'portal') return html(response, 200, 'Welcome to the airport')
    if (rule?.fault === 'stalled') return void held.add(response)
    const ready = rule?.fault instanceof Promise ? rule.fault : Promise.resolve()
    void ready.then(() => forward(incoming, response, rule)).catch(() => lose(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    origin: `http://localhost:${port}`,
    /** The path of everything that was fetched so far. */
    fetched: (): string[] => [...fetched],
    connect: (url: string): void => void (target = url),
    /** From now on, this happens to calls of `path`. Resolves once it has happened. */
    fail: (
      method: string,
      path: RegExp,
      fault: Fault | Lie | Change | Wait | Reset,
      times = Infinity,
    ): Promise<void> => new Promise((met) => void rules.push({ method, path, fault, times, met })),
    mend: (): void => {
      rules = []
      for (const response of held) lose(response)
      held.clear()
    },
    /** Closes the connections that are open, so that a wait meets the rules of now. */
    cut: (): void => server.closeAllConnections(),
    close: (): void => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type BadNetwork = Awaited<ReturnType<typeof createBadNetwork>>
