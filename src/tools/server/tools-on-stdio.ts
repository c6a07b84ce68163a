import { createSharedRequests } from './shared-requests.ts'
import { serveOnStdio } from './stdio.ts'
import type { ToolContext } from './tool-context.ts'
import { createToolServer, type Session } from './tool-server.ts'

/** Serves the tools on standard input and output, until one of them or the signal ends. Pending requests are then withdrawn. */
export const serveTools = (
  { gateway, defaults }: Pick<ToolContext, 'gateway' | 'defaults'>,
  report: Session['report'],
  signal: AbortSignal,
): Promise<void> => {
  const shared = createSharedRequests()
  const session = { toolContext: { gateway, defaults, shared, caller: 'stdio' }, report }
  return serveOnStdio({ create: (running) => createToolServer(session, running), signal, stop: shared.stop })
}
