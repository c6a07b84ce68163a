import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/rest.ts'
import type { HttpRequest } from '../../../src/client/transport.ts'
import type { TestService } from '../../service/harness.ts'

/** The client of the command line on the real service, without a socket. `seen` notes each request. */
export const clientOf = (
  { app, operatorKey }: TestService,
  options: {
    key?: string
    seen?: HttpRequest[]
    answer?(request: HttpRequest): { status: number; body: string } | undefined
  } = {},
): Client => {
  const { key = operatorKey, seen = [], answer } = options
  return createClient({
    baseUrl: 'http://127.0.0.1:8080/admin/public/api',
    apiKey: async () => key,
    transport: async (request) => {
      seen.push(request)
      const other = answer?.(request)
      if (other) return { ...other, headers: {} }
      const response = await app.request(request.url, request, { incoming: { socket: {} } })
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      }
    },
  })
}
