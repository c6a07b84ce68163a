import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createSharedRequests } from './shared-requests.ts'
import type { ToolContext } from './tool-context.ts'
import { createToolServer, type Session } from './tool-server.ts'

/** How long the end waits for withdrawals. */
const patienceMs = 5_000
const checkEveryMs = 1_000

/**
 * Whether the client has closed our output. A stream notices it only at a write, and a call that waits for a person writes
 * nothing. An empty write shows it for a socket, which Node gives to its children, but not for a pipe.
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
 * Serves the tools on standard input and output, until the input ends, the output is closed, or the signal aborts. Pending
 * requests are then withdrawn.
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
  const checking = setInterval(() => {
    if (running.size > 0 && outputIsClosed()) end()
  }, checkEveryMs).unref()
  await closed
  shared.stop()
  clearInterval(checking)
  await server.close()
  await Promise.race([Promise.allSettled(running), wait(patienceMs, undefined, { ref: false })])
}
