import { beforeEach, expect } from 'vitest'
import { acme, clock, installHooks as installAcme, service } from '../acme-with-ada.ts'
import { minute } from '../clock.ts'
import { createTenant, refusedWithoutTrace } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

// Beside acme there is another organization, of which nothing may be told.

export let globex: { id: number; key: string }

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  installAcme()
  beforeEach(async () => {
    globex = await createTenant(service, 'globex')
  })
}

export const post = (path: string, body: object, key = acme.key): Promise<Answer> =>
  service.call('POST', path, { key, body })
export const later = (minutes: number): string =>
  new Date(Date.parse(clock.iso()) + minutes * minute).toISOString()

/** Says no, everything is as it was, and no phone rang. */
export const refusedOutright = async (answer: () => Promise<Answer>) => {
  const said = await refusedWithoutTrace(service, answer)
  expect(service.notified).toEqual([])
  return said
}
