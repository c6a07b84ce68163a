import { describe, expect, test } from 'vitest'
import { acme, clock, service } from '../acme.ts'
import { createMember, dataOf } from '../fixtures.ts'
import { admin, hold, installHooks, list, member, waiting } from './members-stage.ts'
import { fromPhone, readInbox } from './phone.ts'

installHooks()

test('an administrator sees pending users, without their whole number', async () => {
  const ada = { first_name: 'Ada', last_name: 'Lovelace', mobile: '••••••••0103' }
  const members = [
    {
      user_id: waiting.id,
      ...ada,
      email: expect.stringContaining('@'),
      role: 'member',
      state: 'pending',
      held_at: clock.iso(),
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

  test('is searched to its end in an organization with many members', async () => {
    const rows = Array.from({ length: 1200 }, (_, at) => at)
    await service.storage.write(
      async (db) => {
        const { id: _, ...one } = await db.selectFrom('memberships').selectAll().executeTakeFirstOrThrow()
        const person = await db.selectFrom('people').selectAll().executeTakeFirstOrThrow()
        for (const at of rows) {
          const user_id = 1000 + at
          const own = { ...person, id: user_id, mobile: `+1202666${at}` }
          const row_mac = service.keyring.macOf('people', own)
          await db
            .insertInto('people')
            .values({ ...own, row_mac })
            .execute()
          const names = { first_name: at % 3 ? 'Zed' : 'Zoé', last_name: `${1200 - at}` }
          await db
            .insertInto('memberships')
            .values({ ...one, ...names, user_id, role: 'member', state: 'active' })
            .execute()
        }
      },
      { org: null },
    )
    const { members, total } = await active('zoe')
    expect([members.length, total]).toEqual([30, 400])
    expect(members.slice(0, 3).map((one: { last_name: string }) => one.last_name)).toEqual([
      '1002',
      '1005',
      '1008',
    ])
    expect((await active('zed 1')).members.at(0)).toMatchObject({ last_name: '1' })
    expect((await active()).total).toBe(1201)
  })

  test('is limited to what a phone can show', async () => {
    for (let n = 10; n < 45; n += 1) await createMember(service, acme.id, n)
    const { members, total } = await active()
    expect([members.length, total]).toEqual([30, 36])
  })
})

test('the page of an administrator learns at once that somebody waits', async () => {
  const { mark } = await readInbox(service, admin)
  const seen = readInbox(service, admin, `?wait_s=20&seen=${mark}`)
  await hold(member.user)
  expect((await seen).mark).not.toBe(mark)
})
