import { beforeEach, describe, expect, test } from 'vitest'
import { findRelation } from '../../../src/service/devices/relation.ts'
import { installHooks, service } from '../acme.ts'
import { dataOf } from '../fixtures.ts'

installHooks()

/** Keys, each created by the previous one. */
let first: number
let second: number
let third: number

const createKey = async (name: string, key?: string): Promise<{ id: number; key: string }> => {
  const made = dataOf(await service.call('POST', '/svc/v1/keys', { key, body: { name, scopes: ['all'] } }))
  return { id: Number(made.id), key: made.key }
}

beforeEach(async () => {
  const one = await createKey('one')
  const middle = await createKey('two', one.key)
  first = one.id
  second = middle.id
  third = (await createKey('three', middle.key)).id
})

const relation = (asking: number, enrolledBy: number) => {
  const { keyring, storage } = service
  const found = storage.read((db) => findRelation({ db, keyring, orgId: null }, asking, { key: enrolledBy }))
  return found.then((one) => one.relation)
}

describe('the relation of the requesting key to the key that enrolled the device', () => {
  test('is self if the first created the other', async () => {
    expect(await relation(first, third)).toBe('self')
  })

  test.each([
    ['the enrolling one', () => third],
    ['one between them', () => second],
    ['the asking one', () => first],
  ])('is unknown after another program has changed %s', async (_, changed) => {
    await service.runSql(`UPDATE api_keys SET created_by = NULL, lineage = 1 WHERE id = ${changed()}`)
    expect(await relation(first, third)).toBe('unknown')
  })
})
