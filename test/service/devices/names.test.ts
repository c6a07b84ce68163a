import { describe, expect, test } from 'vitest'
import { namesOf } from '../../../src/service/devices/notices.ts'
import { acme, ada, grace, installHooks, service } from '../members/groups-stage.ts'

installHooks()

const name = ({ id }: typeof ada): string => `Ada Lovelace (user ${id})`

describe('the names of members in a message', () => {
  test('are in the order that was asked, and a person who is gone keeps the number', async () => {
    const users = [Number(grace.id), 999, Number(ada.id), Number(grace.id)]
    expect(await service.storage.read((db) => namesOf(db, acme.id, users))).toEqual([
      name(grace),
      'User 999',
      name(ada),
      name(grace),
    ])
  })

  test('are of one organization only', async () => {
    expect(await service.storage.read((db) => namesOf(db, 999, [Number(ada.id)]))).toEqual([`User ${ada.id}`])
  })

  test('need no store when nobody is named', async () => {
    expect(await namesOf({} as Parameters<typeof namesOf>[0], acme.id, [])).toEqual([])
  })
})
