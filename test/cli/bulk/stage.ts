import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { startTestService } from '../../service/harness.ts'
import { openWorkspace } from './workspace.ts'

/** The real service on a socket, with the organizations 1 (acme) and 2 (beta). */
export const openStage = async ({ dev = false } = {}) => {
  const service = await startTestService({ dev })
  for (const name of ['Acme', 'Beta']) await service.call('POST', '/organization/create', { body: { name } })
  const server = serve({ fetch: service.app.fetch, hostname: '127.0.0.1', port: 0 })
  await new Promise((resolve) => void server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const workspace = openWorkspace(`http://127.0.0.1:${port}/admin/public/api`, service.operatorKey)
  return {
    ...workspace,
    service,
    list: async (what: 'users' | 'geo-fences' | 'timeslots', org = 1): Promise<Record<string, unknown>[]> =>
      (await service.call('GET', `/organization/${org}/${what}`)).body.data,
    close: async (): Promise<void> => {
      await new Promise((resolve) => void server.close(resolve))
      await service.close()
      workspace.close()
    },
  }
}
export type Stage = Awaited<ReturnType<typeof openStage>>
