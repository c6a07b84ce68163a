import { writeSync } from 'node:fs'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { ToolContext } from './tool-context.ts'
import { createSharedRequests } from './shared-requests.ts'
import { createToolServer, type Session } from './tool-server.ts'

/** How long an end waits for what it withdraws. */
const patienceMs = 5_000
const lookEveryMs = 1_000

/**
 * Whether the client has closed our output. A stream learns that from a write only, and a call that waits for a person
 * writes nothing. Writing no bytes tells it of a socket, which is what Node gives to its children; a pipe says nothing.
 */
const outputIsClosed = (): boolean => {
  try {
    writeSync(1, '')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPIPE'
  }
}

/**
 * Serves the tools on this process's standard input and output until the input ends, the output is closed, or the
 * signal aborts. What is pending by then is withdrawn.
 */
export const serveTools = async (
  { gateway, defaults }: Pick<ToolContext, 'gateway' | 'defaults'>,
  report: Session['report'],
  signal: AbortSignal,
): Promise<void> => {
  const shared = createSharedRequests()
  const session = { toolContext: { gateway, defaults, shared, caller: 'stdio' }, report }
  const running = new Set<Promise<unknown>>()
  const transport = new StdioServerTransport()
  const closed = new Promise<void>((resolve) => {
    const close = transport.close.bind(transport)
    transport.close = () => close().finally(resolve)
  })
  const server = serveStdio(() => createToolServer(session, running), { transport })
  const end = (): void => {
    shared.stop()
    void server.close().then(() => transport.close())
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  const looking = setInterval(() => {
    if (running.size > 0 && outputIsClosed()) end()
  }, lookEveryMs).unref()
  await closed
  shared.stop()
  clearInterval(looking)
  await server.close()
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, patienceMs)))
  await Promise.race([Promise.allSettled(running), patience])
  clearTimeout(timer)
}
