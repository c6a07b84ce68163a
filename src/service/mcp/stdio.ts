import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createToolServer, type Session } from './tool-server.ts'

/** How long an end waits for what it withdraws. */
const patienceMs = 5_000

/**
 * Serves the tools on this process's standard input and output until the input ends or the signal aborts. What is
 * pending by then is withdrawn.
 */
export const serveTools = async (session: Session, signal: AbortSignal): Promise<void> => {
  const running = new Set<Promise<unknown>>()
  const transport = new StdioServerTransport()
  const closed = new Promise<void>((resolve) => {
    const close = transport.close.bind(transport)
    transport.close = () => close().finally(resolve)
  })
  const server = serveStdio(() => createToolServer(session, running), { transport })
  const end = (): void => void server.close().then(() => transport.close())
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  await closed
  await server.close()
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, patienceMs)))
  await Promise.race([Promise.allSettled(running), patience])
  clearTimeout(timer)
}
