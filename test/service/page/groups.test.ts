import { beforeEach, expect, test } from 'vitest'
import { createTenant, dataOf } from '../fixtures.ts'
import { createPhone, fromPhone, type Phone } from './phone.ts'
import { acme, ada, installHooks, service } from './visit.ts'

installHooks()

let bob: Phone
beforeEach(async () => {
  bob = await createPhone(service, acme.id, 2)
  for (const [name, members] of Object.entries({
    sre: [ada.user, bob.user],
    dba: [bob.user],
    old: [ada.user],
  }))
    dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/groups`, { body: { name, members } }))
  dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/groups/old`))
})

const groupsOf = async ({ cookie }: Phone) =>
  dataOf(await fromPhone(service, 'GET', 'groups', { cookie })).groups
const member = ({ user }: Phone, last: string, asleep = false) => ({
  user_id: user,
  first_name: 'Ada',
  last_name: 'Lovelace',
  mobile: `••••••••${last}`,
  asleep,
})

test('a member reads the groups that they are in, and no deleted one', async () => {
  expect(await groupsOf(ada)).toEqual([{ name: 'sre', members: [member(ada, '0101'), member(bob, '0102')] }])
})

test('an administrator reads all groups of the organization, and no other organization is shown', async () => {
  const body = { org_id: acme.id, user_id: ada.user }
  dataOf(await service.call('POST', '/make-admin', { body }))
  const other = await createTenant(service, 'other')
  const eve = await createPhone(service, other.id, 3)
  dataOf(
    await service.call('POST', `/svc/v1/organizations/${other.id}/groups`, {
      body: { name: 'secret', members: [eve.user] },
    }),
  )
  expect((await groupsOf(ada)).map(({ name }: { name: string }) => name)).toEqual(['dba', 'sre'])
  expect((await groupsOf(eve)).map(({ name }: { name: string }) => name)).toEqual(['secret'])
})

test('a member without a device is shown as not asked', async () => {
  dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${bob.device}`))
  expect(await groupsOf(ada)).toEqual([
    { name: 'sre', members: [member(ada, '0101'), member(bob, '0102', true)] },
  ])
})
