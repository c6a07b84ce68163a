import { beforeEach } from 'vitest'
import { acme, ada, installHooks as installAda, service } from '../acme-with-ada.ts'
import { type Approver, createApprover } from '../approver.ts'
import { dataOf } from '../fixtures.ts'

export { acme, ada, clock, service } from '../acme-with-ada.ts'

/** Two members besides Ada who have a device. */
export let grace: Approver
export let alan: Approver

export const installHooks = (): void => {
  installAda()
  beforeEach(async () => {
    grace = await createApprover(service, acme.id, 2)
    alan = await createApprover(service, acme.id, 3)
  })
}

export const groupsAt = (org = acme.id): string => `/svc/v1/organizations/${org}/groups`

export const create = (name: string, members: string[], key?: string, headers?: Record<string, string>) =>
  service.call('POST', groupsAt(), { key, headers, body: { name, members } })

export const show = (name: string, key?: string) => service.call('GET', `${groupsAt()}/${name}`, { key })

export const list = (query = '') => service.call('GET', `${groupsAt()}${query}`)

export const add = (name: string, user_id: string, key?: string) =>
  service.call('POST', `${groupsAt()}/${name}/members`, { key, body: { user_id } })

export const remove = (name: string, user: string, key?: string) =>
  service.call('DELETE', `${groupsAt()}/${name}/members/${user}`, { key })

export const drop = (name: string, key?: string) => service.call('DELETE', `${groupsAt()}/${name}`, { key })

export const membersOf = async (name: string): Promise<string[]> => dataOf(await show(name)).members
export const asleepIn = async (name: string): Promise<string[]> => dataOf(await show(name)).asleep

/** Ends the only device of a member. */
export const loseDevice = async ({ device }: Approver = ada): Promise<void> => {
  const path = `/svc/v1/organizations/${acme.id}/devices/${device}`
  await service.call('DELETE', path).then(dataOf)
}
