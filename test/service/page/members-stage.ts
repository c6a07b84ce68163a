import { beforeEach } from 'vitest'
import { acme, installHooks as installAcme, service } from '../acme.ts'
import { createMember } from '../fixtures.ts'
import { createPhone, fromPhone, type Phone } from './phone.ts'

// After `installHooks`, acme has an administrator and a member, each with a phone, and a person who waits.

export let admin: Phone
export let member: Phone
export let waiting: { id: string; mobile: string }

export const hold = (user: string) =>
  service.call('POST', `/organization/${acme.id}/user/${user}/pending`, { body: {} })
export const list = ({ cookie }: Phone) => fromPhone(service, 'GET', 'members', { cookie })

/** Installs the hooks that set it up, in the test file that calls this. */
export const installHooks = (): void => {
  installAcme()
  beforeEach(async () => {
    admin = await createPhone(service, acme.id, 1, { role: 'admin' })
    member = await createPhone(service, acme.id, 2)
    waiting = await createMember(service, acme.id, 3)
    await hold(waiting.id)
  })
}
