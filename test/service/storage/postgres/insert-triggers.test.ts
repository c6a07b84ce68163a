import { afterEach, expect, test } from 'vitest'
import { acme, installHooks, service } from '../../acme.ts'
import { createMember, dataOf } from '../../fixtures.ts'
import { createPhone } from '../../page/phone.ts'

// Whoever can write to the database can change each row on its way in: the MAC must be of what the service meant.

installHooks()

const onInsert = async (table: string, change: string): Promise<void> => {
  await service.runSql(
    `CREATE FUNCTION change_${table}() RETURNS trigger AS $$ BEGIN ${change}; RETURN NEW; END $$ LANGUAGE plpgsql`,
  )
  await service.runSql(
    `CREATE TRIGGER change BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION change_${table}()`,
  )
}

afterEach(async () => {
  for (const table of ['api_keys', 'devices', 'people'])
    await service.runSql(`DROP FUNCTION IF EXISTS change_${table} CASCADE`)
})

const altered = async () => dataOf(await service.call('GET', '/svc/v1/audit/altered'))

test('a key that a trigger gave more is not valid', async () => {
  await onInsert('api_keys', `NEW.scopes := 'all'`)
  const body = { org_id: acme.id, name: 'ci', scopes: ['read'] }
  const { key, id } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
  expect((await service.call('GET', '/svc/v1/whoami', { key })).status).toBe(401)
  expect(await altered()).toEqual([{ org_id: acme.id, kind: 'api_key', id: String(id) }])
})

test('a person whose number a trigger changed is not added', async () => {
  await onInsert('people', `NEW.mobile := '+12025550999'`)
  await expect(createMember(service, acme.id, 1)).rejects.toThrow('store_changed')
  expect(await altered()).toEqual([])
})

test('a device is enrolled by the key that created its link, whatever a trigger says', async () => {
  const enrolledBy = 'SELECT enrolled_by FROM devices ORDER BY id'
  await createPhone(service, acme.id, 1)
  await onInsert('devices', 'NEW.enrolled_by := NEW.enrolled_by + 1')
  await createPhone(service, acme.id, 2)
  const [first, second] = await service.runSql(enrolledBy)
  expect(second).toEqual(first)
  expect(await altered()).toEqual([])
})
