import { onTestFinished } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/rest.ts'
import { createTransport } from '../../src/client/undici-transport.ts'
import { SvcError } from '../../src/core/errors.ts'
import { startFakeHosted, type FakeHosted } from '../fake-hosted.ts'

export const secretKey = 'svc_canary_7Yq2'

type Options = Partial<Parameters<typeof createClient>[0]> & {
  timeoutMs?: Parameters<typeof createTransport>[0]['timeoutMs']
}

export type Case = { client: Client; service: FakeHosted; slept: number[]; debugged: string[] }

/** A client of a fake hosted service, over a real socket. The clock is fixed, and waits are only recorded. */
export const withHosted = async ({ timeoutMs, ...options }: Options = {}): Promise<Case> => {
  const service = await startFakeHosted()
  const slept: number[] = []
  const debugged: string[] = []
  const client = createClient({
    baseUrl: service.baseUrl,
    apiKey: async () => secretKey,
    transport: createTransport({ env: {}, timeoutMs }),
    now: () => new Date('2026-01-01T00:00:00Z'),
    sleep: async (ms) => void slept.push(ms),
    random: () => 0.5,
    debug: (line) => void debugged.push(line),
    ...options,
  })
  onTestFinished(async () => {
    await client.close()
    await service.close()
  })
  return { client, service, slept, debugged }
}

/** The SvcError of a rejected promise. */
export const failure = async (promise: Promise<unknown>): Promise<SvcError> => {
  try {
    await promise
  } catch (error) {
    if (error instanceof SvcError) return error
    throw error
  }
  throw new Error('It did not fail')
}
