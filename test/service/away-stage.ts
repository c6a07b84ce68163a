import { beforeEach } from 'vitest'
import { dataOf } from './fixtures.ts'
import type { Answer } from './harness.ts'
import { installHooks as installTools, acme, service } from './mcp/oauth-stage.ts'
import { answerTo, createPhone, fromPhone, type Phone } from './page/phone.ts'

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

/** Sets an absence at the page. */
export const signAway = async (phone: Phone, wanted: object, signer = phone): Promise<Answer> => {
  const { cookie } = phone
  const begun = await fromPhone(service, 'POST', 'away/challenge', { cookie, body: wanted })
  const { challenge } = dataOf(begun)
  const body = { ...wanted, challenge, response: answerTo(challenge, signer.key) }
  return fromPhone(service, 'POST', 'away', { cookie, body })
}

export const createGroup = async (name: string, members: Phone[]): Promise<void> => {
  const body = { name, members: members.map(({ user }) => user) }
  dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/groups`, { body }))
}
