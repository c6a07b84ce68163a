import { beforeEach, describe, expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import {
  auditOf,
  contentsOf,
  createMember,
  createTenant,
  dataOf,
  refusal,
  slot,
  refusedWithoutTrace,
} from '../fixtures.ts'
import type { TestService } from '../harness.ts'

installHooks()

let user: { id: string }
beforeEach(async () => {
  user = await createMember(service, acme.id, 1)
})

const states = ['pending', 'active', 'rejected', 'removed'] as const
type State = (typeof states)[number]

const setState = (state: State) =>
  service.storage.write(
    (db) => db.updateTable('memberships').set({ state }).where('user_id', '=', Number(user.id)).execute(),
    { org: 0 },
  )
const stateOf = async () =>
  dataOf(await service.call('GET', `/organization/${acme.id}/user/${user.id}`)).state as State

const moves: Record<string, (userId: string) => ReturnType<TestService['call']>> = {
  acceptUser: (id) => service.call('POST', `/organization/${acme.id}/user/${id}/accept`),
  rejectUser: (id) => service.call('POST', `/organization/${acme.id}/user/${id}/reject`),
  holdUser: (id) => service.call('POST', `/organization/${acme.id}/user/${id}/pending`),
  removeUser: (user_id) =>
    service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id } }),
  makeAdmin: (user_id) => service.call('POST', '/make-admin', { body: { org_id: acme.id, user_id } }),
}

const done: Record<string, string[]> = {
  acceptUser: ['state', 'accepted'],
  rejectUser: ['state', 'rejected'],
  holdUser: ['state', 'held'],
  removeUser: ['state', 'removed'],
  makeAdmin: ['role', 'promoted'],
}

const allowed: Record<string, Partial<Record<State, State>>> = {
  acceptUser: { pending: 'active' },
  rejectUser: { pending: 'rejected' },
  holdUser: { active: 'pending' },
  removeUser: { active: 'removed', pending: 'removed' },
  makeAdmin: { active: 'active' },
}

const cases = Object.keys(moves).flatMap((move) =>
  states.map((from) => ({ move, from, to: allowed[move]![from] })),
)

describe('moving a user', () => {
  test.each(cases.filter(({ to }) => to))(
    '$move changes a user from $from to $to',
    async ({ move, from, to }) => {
      await setState(from)
      expect(dataOf(await moves[move]!(user.id))).toMatchObject({ id: user.id, state: to })
      expect(await stateOf()).toBe(to)
      const row = [move, `user:${user.id}`, done[move]]
      expect(await auditOf(service, acme.id)).toContainEqual(row)
    },
  )

  test.each(cases.filter(({ to }) => !to))('$move refuses a user who is $from', async ({ move, from }) => {
    await setState(from)
    const before = await contentsOf(service)
    const answer = await moves[move]!(user.id)
    expect(refusal(answer)).toEqual([409, `user_${from}`, []])
    expect(answer.body.message).toContain(`The user is ${from}`)
    expect(await contentsOf(service)).toEqual(before)
  })

  test.each([
    ['acceptUser', 'rejected', 'Create the user again: svc user create --org 1'],
    ['acceptUser', 'removed', 'Create the user again: svc user create --org 1'],
    ['acceptUser', 'active', undefined],
    ['holdUser', 'rejected', 'Create the user again: svc user create --org 1'],
    ['holdUser', 'pending', undefined],
    ['makeAdmin', 'rejected', 'Create the user again: svc user create --org 1'],
    ['makeAdmin', 'pending', 'svc user pending accept 1 --org 1 accepts the user'],
    ['rejectUser', 'active', 'svc user remove 1 --org 1 removes an active user'],
    ['removeUser', 'rejected', undefined],
  ] as const)('%s of a user who is %s leads to what works', async (move, from, hint) => {
    expect([user.id, acme.id]).toEqual(['1', 1])
    await setState(from)
    expect((await moves[move]!(user.id)).body.data.hint).toBe(hint)
  })

  test.each(Object.keys(moves))('%s does not find a user who is not a member', async (move) => {
    expect(await refusedWithoutTrace(service, () => moves[move]!('99'))).toEqual([404, 'not_found', []])
  })

  test('happens once, even with many calls at once', async () => {
    await setState('pending')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => moves[i % 2 ? 'acceptUser' : 'rejectUser']!(user.id)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
  })

  test('makes a member an administrator', async () => {
    expect(dataOf(await moves.makeAdmin!(user.id)).role).toBe('admin')
  })

  test('does not reach into another organization of the same person', async () => {
    const other = await createTenant(service, 'other')
    const there = await createMember(service, other.id, 1)
    await moves.removeUser!(user.id)
    expect(dataOf(await service.call('GET', `/organization/${other.id}/user/${there.id}`))).toEqual(there)
  })
})

describe('removing a user', () => {
  test('ends links that were not used, and keeps the rest', async () => {
    await service.call('PUT', `/user/${user.id}/timeslots/update`, { body: { timeslots: [slot] } })
    await service.storage.write(
      (db) =>
        db
          .insertInto('enrollments')
          .values([
            {
              org_id: acme.id,
              user_id: Number(user.id),
              token_hash: 'a',
              user_handle: '',
              expires_at: '2999',
            },
            {
              org_id: acme.id,
              user_id: Number(user.id),
              token_hash: 'b',
              user_handle: '',
              expires_at: '2000',
              used_at: '2000',
            },
          ])
          .execute(),
      { org: 0 },
    )
    await moves.removeUser!(user.id)
    const contents = await contentsOf(service)
    expect(contents.enrollments).toMatchObject([{ token_hash: 'b' }])
    expect(contents.user_timeslots).toHaveLength(1)
  })
})

const remove = (orgId: number) => service.call('DELETE', `/organization/${orgId}/delete/user/${user.id}`)

describe('deleting a user', () => {
  test('erases the membership with all its data, and the person with the last one', async () => {
    const other = await createTenant(service, 'other')
    const there = await createMember(service, other.id, 1)
    await service.call('PUT', `/user/${user.id}/timeslots/update`, {
      body: { org_id: acme.id, timeslots: [slot] },
    })
    expect((await remove(acme.id)).status).toBe(200)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual(['deleteUser', `user:${user.id}`, []])
    let contents = await contentsOf(service)
    expect(contents.user_timeslots).toEqual([])
    expect(contents.people).toMatchObject([{ id: Number(there.id) }])

    expect((await remove(other.id)).status).toBe(200)
    contents = await contentsOf(service)
    expect([contents.people, contents.memberships]).toEqual([[], []])
    expect(JSON.stringify(contents)).not.toMatch(/\+12025550101|user1@acme|Lovelace/)
  })

  test('finds no user the second time', async () => {
    await remove(acme.id)
    expect(refusal(await remove(acme.id))).toEqual([404, 'not_found', []])
  })
})
