import { beforeEach } from 'vitest'
import { acme, ada, installHooks as installAcme, service } from '../acme-with-ada.ts'
import { ask, type Approver, createApprover } from '../approver.ts'
import { dataOf } from '../fixtures.ts'
import type { TestService } from '../harness.ts'

// A rule that lets requests of a text live for a day. It asks Ada and Bob, one of whom suffices.

export let bob: Approver

/** A group of these people, and a rule that asks it. */
export const addLongRule = async ({ call }: TestService, org: number, people: Approver[]): Promise<void> => {
  const path = `/svc/v1/organizations/${org}`
  const members = people.map(({ id }) => Number(id))
  dataOf(await call('POST', `${path}/groups`, { body: { name: 'sre', members } }))
  const rule = { name: 'long', match: { type: 'text' }, who: ['@sre'], lifetime_s: 86_400 }
  dataOf(await call('POST', `${path}/rules`, { body: rule }))
}

/** Adds it in the test file that calls this. */
export const installHooks = (): void => {
  installAcme()
  beforeEach(async () => {
    bob = await createApprover(service, acme.id, 2)
    await addLongRule(service, acme.id, [ada, bob])
  })
}

export const askLong = (lifetime_s = 86_400, key = acme.key) => ask(service, ada, { lifetime_s }, key)
