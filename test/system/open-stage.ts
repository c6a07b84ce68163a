import { afterAll, afterEach, beforeAll } from 'vitest'
import type { Phone } from './page-phone.ts'
import { createStage, type Stage, type StageOptions } from './page-stage.ts'
import { createBadNetwork, type BadNetwork } from './bad-network.ts'

// The page as a person sees it: real Chromium, the built page, the real service.

export let stage: Stage

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (options: StageOptions = {}): void => {
  beforeAll(async () => {
    stage = await createStage(options)
  })
  afterEach(() => stage.closePhones())
  afterAll(() => stage.close())
}

export let network: BadNetwork

/** The same with a proxy in front of the service, which is mended before each test. */
export const installHooksBehindProxy = ({ keepPhones = false } = {}): void => {
  beforeAll(async () => {
    network = await createBadNetwork()
    stage = await createStage({ between: network })
  })
  afterEach(async () => {
    network.mend()
    if (!keepPhones) await stage.closePhones()
  })
  afterAll(() => stage.close())
}

export const open = async (phone: Phone, id: string): Promise<void> => {
  await phone.page.locator(`a[href="#request=${id}"]`).click()
  const first = phone.page.getByRole('button', { name: 'Read everything first' })
  const approve = phone.page.getByRole('button', { name: 'Approve', exact: true })
  await first.or(approve).waitFor()
  for (let taps = 0; (await first.count()) > 0 && taps < 20; taps++) await first.click()
  await approve.waitFor()
}
