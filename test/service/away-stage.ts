import { beforeEach } from 'vitest'
import { dataOf } from './fixtures.ts'
import { installHooks as installTools, acme, service } from './mcp/oauth-stage.ts'
import { createPhone, type Phone } from './page/phone.ts'
import { signAway as signAt } from './page/sign-away.ts'

export { acme, ada, clock, service } from './mcp/oauth-stage.ts'

/** Two members besides Ada, and an administrator. */
export let grace: Phone
export let alan: Phone
export let admin: Phone

/** A service with three members and an administrator, in the test file that calls it. */
export const installHooks = (): void => {
  installTools()
  beforeEach(async () => {
    grace = await createPhone(service, acme.id, 2)
    alan = await createPhone(service, acme.id, 3)
    admin = await createPhone(service, acme.id, 4, { role: 'admin' })
  })
}

export const day = 86_400_000

export const signAway = (phone: Phone, wanted: object, signer?: Phone) =>
  signAt(service, phone, wanted, signer)

export const createGroup = async (name: string, members: Phone[]): Promise<void> => {
  const body = { name, members: members.map(({ user }) => user) }
  dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/groups`, { body }))
}
