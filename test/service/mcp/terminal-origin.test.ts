import { beforeEach, expect, test } from 'vitest'
import { createMember, dataOf } from '../fixtures.ts'
import { enrollPhone, type Phone, registerPhone } from '../page/phone.ts'
import { at, holdCalls } from '../rule-fixture.ts'
import { acme, ada, installHooks, service } from './oauth-stage.ts'
import { createAdministrator, createConsented, signIn } from './terminal-stage.ts'

// One key of acme with every scope, and the phone of a member, against the administrators who must approve.

installHooks()

let honest: Phone
let eve: Phone
let mal: Phone
beforeEach(async () => {
  honest = await createAdministrator(2)
  eve = await enrollPhone(service, acme.id, await createMember(service, acme.id, 3))
  const user = await createMember(service, acme.id, 4)
  const links = `/svc/v1/organizations/${acme.id}/users/${user.id}/enrollments`
  const { token } = dataOf(await service.call('POST', links, { key: acme.key, body: {} }))
  mal = await registerPhone(service, token, user)
  await appoint(mal, acme.key)
})

const appoint = async ({ user }: Phone, key?: string): Promise<void> =>
  void dataOf(await service.call('POST', '/make-admin', { key, body: { org_id: acme.id, user_id: user } }))

type Request = { lines: { people: { user_id: string }[] }[] }
const peopleOf = ({ lines }: Request): string[] =>
  lines.flatMap(({ people }) => people.map(({ user_id }) => user_id))

/** Whom a change of groups asks that a key makes. */
const askedBy = async (key: string | undefined): Promise<string[]> => {
  const path = `/svc/v1/organizations/${acme.id}/groups`
  const body = { name: 'evil', members: [eve.user, mal.user] }
  return peopleOf((await service.call('POST', path, { key, body })).body.data.request)
}

test('a terminal asks nobody who is an administrator through the key that made its own person one', async () => {
  await appoint(eve, acme.key)
  expect(await askedBy(acme.key)).toEqual([honest.user])
  expect(await askedBy((await signIn(eve)).management_token)).toEqual([honest.user])
})

test('so does a key that its person created with it', async () => {
  await appoint(eve, acme.key)
  const { management_token } = await signIn(eve)
  expect(await askedBy(await createConsented(eve, management_token!, ['rules', 'people']))).toEqual([
    honest.user,
  ])
})

test('a terminal of a person whom the operator appointed asks every other administrator', async () => {
  await appoint(eve)
  const { management_token } = await signIn(eve)
  expect((await askedBy(management_token)).toSorted()).toEqual([honest.user, mal.user].toSorted())
})

test('the own yes ends a new rule only for an administrator behind whom is nobody but the operator', async () => {
  const { rule } = await holdCalls(service, acme.id, ['geofence'], [ada.user])
  const asked = async (phone: Phone): Promise<string[]> => {
    const key = (await signIn(phone)).management_token
    const { request } = (await service.call('DELETE', at(acme.id, `rules/${rule}`), { key })).body.data
    return peopleOf(request)
  }
  await appoint(eve, acme.key)
  expect(await asked(eve)).toEqual([honest.user])
  expect((await asked(honest)).toSorted()).toEqual([honest.user, mal.user, eve.user].toSorted())
})
