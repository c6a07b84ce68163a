import { describe, expect, test } from 'vitest'
import { dataOf } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { readGroup } from '../../../src/service/devices/seats.ts'
import { enroll } from '../approver.ts'
import {
  acme,
  ada,
  alan,
  asleepIn,
  create,
  grace,
  installHooks,
  loseDevice,
  membersOf,
  service,
} from '../members/groups-stage.ts'

installHooks()

const people = (name: string, orgId = acme.id) =>
  service.storage.read((db) =>
    readGroup({ db, keyring: service.keyring, service: { dev: true } }, orgId, name),
  )

describe('a seat in a group', () => {
  test('sleeps from the end of the last device until a recovery', async () => {
    dataOf(await create('sre', [ada.id, grace.id]))
    await loseDevice(ada)
    expect(await asleepIn('sre')).toEqual([ada.id])
    expect(await people('sre')).toEqual({
      id: 1,
      name: 'sre',
      members: [Number(grace.id)],
      asleep: [Number(ada.id)],
    })
    // A new link alone wakes nobody: it is a recovery, which an administrator approves.
    await enroll(service, acme.id, ada.id)
    expect(await asleepIn('sre')).toEqual([ada.id])
  })

  test('sleeps while the member is on hold', async () => {
    dataOf(await create('sre', [ada.id, grace.id]))
    const at = `/organization/${acme.id}/user/${ada.id}`
    dataOf(await service.call('POST', `${at}/pending`, { body: {} }))
    expect(await asleepIn('sre')).toEqual([ada.id])
    dataOf(await service.call('POST', `${at}/accept`, { body: {} }))
    expect(await asleepIn('sre')).toEqual([])
  })

  test.each([
    ['removed', 'POST', (): string => '/organization/remove/user'],
    ['deleted', 'DELETE', (): string => `/organization/${acme.id}/delete/user/${ada.id}`],
    ['rejected', 'POST', (): string => `/organization/${acme.id}/user/${ada.id}/reject`],
  ] as const)('ends when the member is %s, also if they come back', async (how, method, path) => {
    dataOf(await create('sre', [ada.id, alan.id]))
    dataOf(await create('dba', [ada.id, grace.id]))
    if (how === 'rejected')
      dataOf(await service.call('POST', `/organization/${acme.id}/user/${ada.id}/pending`, { body: {} }))
    const body = how === 'removed' ? { org_id: acme.id, user_id: ada.id } : {}
    const answer: Answer = await service.call(method, path(), method === 'POST' ? { body } : {})
    expect(answer.status).toBe(200)
    expect(await membersOf('sre')).toEqual([alan.id])
    expect(await membersOf('dba')).toEqual([grace.id])
    expect(await service.runSql('SELECT * FROM rule_heads')).toMatchObject([{ counter: 3 }])
  })
})

describe('the people of a group', () => {
  test('are refused for a name that no group has', async () => {
    await expect(people('nobody')).rejects.toMatchObject({
      status: 422,
      issues: [{ field: 'approvers' }],
      hint: `svc group list --org ${acme.id} lists the groups`,
    })
  })

  test('are those of the own organization', async () => {
    dataOf(await create('sre', [ada.id]))
    await expect(people('sre', acme.id + 1)).rejects.toMatchObject({ status: 422 })
  })
})
