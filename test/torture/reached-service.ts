import { join } from 'node:path'
import { remote } from '../e2e/person.ts'
import { startServe } from '../e2e/processes.ts'
import { origin } from '../service/mcp/oauth-client.ts'
import type { TestService } from '../service/harness.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Change, createVariant } from './variant.ts'

const operator = 'svc_op_reached_0123456789012345678901234567890123'

/** A running service, as the fixtures of the service know it. */
const reach = (baseUrl: string): TestService => {
  const { call } = remote(baseUrl, operator)
  const at = new URL(baseUrl).origin
  const request = (url: string, init: RequestInit): Promise<Response> =>
    fetch(url.replace(origin, at), { ...init, redirect: 'manual' })
  return { call, app: { request } } as unknown as TestService
}

/** Starts `svc serve`, or with changes a broken variant of it, for as long as the work takes. */
export const onService = async <T>(
  changes: readonly Change[] | undefined,
  work: (service: TestService) => Promise<T>,
  more: readonly string[] = [],
): Promise<T> => {
  const folder = temporaryFolder()
  const variant = changes && createVariant(changes)
  const running = await startServe(folder.path, operator, {
    args: ['--data-dir', join(folder.path, 'data'), '--public-url', 'http://localhost:8080', ...more],
    ...(variant && { program: variant.program }),
  })
  try {
    return await work(reach(running.baseUrl))
  } finally {
    await running.stop()
    variant?.remove()
    folder.remove()
  }
}
