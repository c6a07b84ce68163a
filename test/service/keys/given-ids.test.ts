import { expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme-with-ada.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import { createPhone } from '../page/phone.ts'
import { onPostgres } from '../storage/postgres-databases.ts'

// Another program makes the store give an id again: groups, grants and approvals name people and keys by it.

installHooks()

const deletePerson = async (id: number): Promise<void> => {
  await service.runSql('DELETE FROM memberships WHERE user_id = ?', [id])
  await service.runSql('DELETE FROM people WHERE id = ?', [id])
}

/** Deletes a row without a trace, and has the store give its id to the next one. */
const giveAgain = async (
  table: 'api_keys' | 'devices' | 'organizations' | 'people',
  id: number,
): Promise<void> => {
  if (table === 'people') await deletePerson(id)
  else await service.runSql(`DELETE FROM ${table} WHERE id = ?`, [id])
  if (onPostgres())
    await service.runSql(`SELECT setval(pg_get_serial_sequence('${table}', 'id')::regclass, ${id - 1})`)
  else await service.runSql('UPDATE sqlite_sequence SET seq = ? WHERE name = ?', [id - 1, table])
}

const createKey = (whose: string) => {
  const org_id = whose === 'the service' ? undefined : acme.id
  return service.call('POST', '/svc/v1/keys', { body: { name: 'ops', scopes: ['ask'], org_id } })
}

test.each([
  ['the organization', 'the organization'],
  ['the organization', 'the service'],
  ['the service', 'the organization'],
])('a key of %s does not get the id of an earlier one of %s', async (now, before) => {
  const { id } = dataOf(await createKey(before))
  await giveAgain('api_keys', Number(id))
  const again = await createKey(now)
  expect(refusal(again)).toEqual([409, 'store_changed', []])
  expect(again.body.message).toContain(`the id of an earlier key again, ${id}`)
})

test('nor if the rows of the audit that name it are changed meanwhile', async () => {
  const { id } = dataOf(await createKey('the organization'))
  await service.runSql("UPDATE audit SET subject = 'x' WHERE subject = ?", [`key:${id}`])
  await giveAgain('api_keys', Number(id))
  expect(refusal(await createKey('the organization'))).toEqual([409, 'store_changed', []])
})

test('a device does not get the id of an earlier one', async () => {
  const { user } = await createPhone(service, acme.id, 2)
  const [{ id }] = (await service.runSql('SELECT id FROM devices WHERE user_id = ?', [Number(user)])) as [
    { id: number },
  ]
  await giveAgain('devices', id)
  await expect(createPhone(service, acme.id, 3)).rejects.toThrow('store_changed')
})

const createOrganization = (slug: string) =>
  service.call('POST', '/organization/create', { body: { name: slug, slug } })

test('an organization does not get the id of an earlier one', async () => {
  const { id } = dataOf(await createOrganization('globex'))
  dataOf(await service.call('DELETE', `/organization/${id}/delete`))
  await giveAgain('organizations', Number(id))
  expect(refusal(await createOrganization('evil'))).toEqual([409, 'store_changed', []])
})

test('a person does not get the id of an earlier one', async () => {
  const { id } = await createMember(service, acme.id, 7)
  await giveAgain('people', Number(id))
  await expect(createMember(service, acme.id, 8)).rejects.toThrow('store_changed')
})

test('a deleted person gets no other id than their own', async () => {
  const grace = await createMember(service, acme.id, 2)
  const { user } = await createPhone(service, acme.id, 3)
  dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${user}`))
  await deletePerson(Number(grace.id))
  await service.runSql('UPDATE erased_people SET user_id = ?', [Number(grace.id)])
  expect((await createMember(service, acme.id, 3)).id).not.toBe(grace.id)
})
