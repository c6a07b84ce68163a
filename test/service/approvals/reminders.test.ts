import { beforeEach, describe, expect, test } from 'vitest'
import { remindDue } from '../../../src/service/approvals/reminders.ts'
import { acme, ada, clock, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { hour, minute, second } from '../clock.ts'
import { dataOf } from '../fixtures.ts'
import { askLong, bob, installHooks } from './long-requests.ts'
import { withdraw } from './requested.ts'

installHooks()

let id: string
beforeEach(async () => {
  id = dataOf(await askLong()).request_id
})

/** Whom a sweep reminds. */
const reminded = async (): Promise<number[]> => {
  const before = service.notified.length
  await remindDue(service.service)
  return service.notified.slice(before).map(({ user_id }) => user_id)
}

const everybody = () => [ada.id, bob.id].map(Number)

describe('15 minutes before its end, a long request', () => {
  test('reminds everybody who has not answered, once', async () => {
    clock.tick(24 * hour - 15 * minute - second)
    expect(await reminded()).toEqual([])
    clock.tick(second)
    expect(await reminded()).toEqual(everybody())
    clock.tick(minute)
    expect(await reminded()).toEqual([])
  })

  test('reminds once when several sweeps run at once', async () => {
    clock.tick(24 * hour - 10 * minute)
    await Promise.all(Array.from({ length: 8 }, () => remindDue(service.service)))
    expect(service.notified.map(({ user_id }) => user_id)).toEqual([...everybody(), ...everybody()])
  })

  test('does not remind somebody of a line that is complete', async () => {
    dataOf(await decide(service, id, bob.key))
    clock.tick(24 * hour - 15 * minute)
    expect(await reminded()).toEqual([Number(ada.id)])
  })

  test('reminds of the others when another program has made one unreadable', async () => {
    const second = dataOf(await askLong()).request_id
    await service.runSql("UPDATE approvals SET lines = '{', excluded = '{' WHERE request_id = ?", [id])
    clock.tick(24 * hour - 15 * minute)
    const before = service.notified.length
    await remindDue(service.service)
    const people = service.notified.slice(before).filter(({ request_id }) => request_id === second)
    expect(people.map(({ user_id }) => user_id)).toEqual(everybody())
  })

  test('does not remind of a request that has ended', async () => {
    dataOf(await withdraw(id, acme.key))
    clock.tick(24 * hour - 15 * minute)
    expect(await reminded()).toEqual([])
  })

  test('does not remind somebody who has muted its requester', async () => {
    clock.tick(24 * hour - 15 * minute)
    const { asked_by } = await service.storage.read((db) =>
      db.selectFrom('approvals').where('request_id', '=', id).select('asked_by').executeTakeFirstOrThrow(),
    )
    const mute = { org_id: acme.id, user_id: Number(ada.id), key_id: asked_by, agent: '' }
    const until = new Date(Date.parse(clock.iso()) + hour).toISOString()
    await service.storage.write(
      (db) =>
        db
          .insertInto('mutes')
          .values({ ...mute, until })
          .execute(),
      { org: acme.id },
    )
    expect(await reminded()).toEqual([Number(bob.id)])
  })

  test('does not remind after its end', async () => {
    clock.tick(24 * hour)
    expect(await reminded()).toEqual([])
  })
})

test('a request of an hour reminds nobody', async () => {
  dataOf(await withdraw(id, acme.key))
  dataOf(await askLong(3600))
  clock.tick(50 * minute)
  expect(await reminded()).toEqual([])
})
