import { describe, expect, test } from 'vitest'
import { acme, clock, service } from '../acme.ts'
import { createMember, dataOf } from '../fixtures.ts'
import { admin, hold, installHooks, list, member, waiting } from './members-stage.ts'
import { fromPhone } from './phone.ts'

installHooks()

test('an administrator sees pending users, without their whole number', async () => {
  const ada = { first_name: 'Ada', last_name: 'Lovelace', mobile: '••••••••0103' }
  const members = [
    {
      user_id: waiting.id,
      ...ada,
      email: expect.stringContaining('@'),
      state: 'pending',
      updated_at: clock.iso(),
    },
  ]
  expect(dataOf(await list(admin))).toEqual({ members, total: 1 })
})

const active = async (find?: string) => {
  const query = new URLSearchParams({ state: 'active', ...(find !== undefined && { find }) })
  return dataOf(await fromPhone(service, 'GET', `members?${query}`, { cookie: admin.cookie }))
}

describe('the list of active members', () => {
  test('contains everybody except the administrator, by name', async () => {
    const zoe = await createMember(service, acme.id, 7, { first_name: 'Zoé' })
    const bob = await createMember(service, acme.id, 8, { first_name: 'bob' })
    const { members, total } = await active()
    expect(members.map((one: { user_id: string }) => one.user_id)).toEqual([member.user, bob.id, zoe.id])
    expect([total, members[0].state]).toEqual([3, 'active'])
  })

  test('can be searched by parts of a name without accents, or by the visible digits', async () => {
    const zoe = await createMember(service, acme.id, 7, { first_name: 'Zoé', last_name: "O'Neil" })
    for (const find of ['zoe', 'ZOÉ neil', "o'n", '0107'])
      expect(await active(find)).toMatchObject({ members: [{ user_id: zoe.id }], total: 1 })
    for (const find of ['zoe lovelace', '12025', '%', '_'])
      expect(await active(find)).toEqual({ members: [], total: 0 })
  })

  test('is limited to what a phone can show', async () => {
    for (let n = 10; n < 45; n += 1) await createMember(service, acme.id, n)
    const { members, total } = await active()
    expect([members.length, total]).toEqual([30, 36])
  })
})

test('the page of an administrator learns at once that somebody waits', async () => {
  const { mark } = dataOf(await fromPhone(service, 'GET', 'requests', { cookie: admin.cookie }))
  const { cookie } = admin
  const seen = fromPhone(service, 'GET', `requests?wait_s=20&seen=${mark}`, { cookie })
  await hold(member.user)
  expect(dataOf(await seen).mark).not.toBe(mark)
})
