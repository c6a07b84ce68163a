import { afterEach, beforeEach } from 'vitest'
import { createFakeGateway, type FakeGateway } from './fake-gateway.ts'
import { startTools } from '../service/mcp/http-tools.ts'

// After `installHooks`, each test has the tools of a server with a fake gateway.

export const mobile = '+12025550101'
export let fake: FakeGateway
export let tools: ReturnType<typeof startTools>

export const start = (about?: Parameters<typeof createFakeGateway>[0]) => {
  fake = createFakeGateway(about)
  tools = startTools({ gatewayFor: () => fake.gateway })
}

/** Installs the hooks in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(() => start())
  afterEach(() => tools.close())
}
