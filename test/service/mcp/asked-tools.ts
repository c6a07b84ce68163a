import { afterEach, beforeEach } from 'vitest'
import { createFakeAsker, type FakeAsker } from './fake-asker.ts'
import { startTools } from './http-tools.ts'

// Whoever calls `installHooks` has, for each test, the tools of a server that asks a fake.

export const mobile = '+12025550101'
export let fake: FakeAsker
export let tools: ReturnType<typeof startTools>

export const start = (about?: Parameters<typeof createFakeAsker>[0]) => {
  fake = createFakeAsker(about)
  tools = startTools({ askerFor: () => fake.asker })
}

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  beforeEach(() => start())
  afterEach(() => tools.close())
}
