import { remote } from '../e2e/person.ts'
import type { TestService } from '../service/harness.ts'
import { origin } from '../service/mcp/oauth-client.ts'

/** A running service, as the fixtures of the service know it. */
export const reach = (baseUrl: string, operator: string): TestService => {
  const { call } = remote(baseUrl, operator)
  const at = new URL(baseUrl).origin
  const request = (url: string, init: RequestInit): Promise<Response> =>
    fetch(url.replace(origin, at), { ...init, redirect: 'manual' })
  return { call, app: { request } } as unknown as TestService
}
