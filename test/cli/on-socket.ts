import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { onTestFinished } from 'vitest'

/** Listens until the test ends. Returns the address of the API. */
export const onSocket = async (fetch: Parameters<typeof serve>[0]['fetch']): Promise<string> => {
  const server = serve({ fetch, hostname: '127.0.0.1', port: 0 })
  onTestFinished(() => void server.close())
  await new Promise((resolve) => void server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/public/api`
}
