import { expect, test } from 'vitest'
import { findOrg, resolveOrg, resolveOrgNow } from '../../../src/cli/context/organization.ts'
import { openContext } from '../../../src/cli/main.ts'
import { json } from '../../fake-hosted.ts'
import { memoryIo } from '../memory-io.ts'
import { installHooks, service, toService } from '../other-service.ts'
import { svc } from '../svc.ts'

installHooks()

const acme = { id: 7, slug: 'acme', name: 'Acme Corp' }
const found = json(200, { status: 'success', message: 'Organization', data: acme })

test('an organization is looked up once per run, by slug or by ID', async () => {
  service.always(found)
  const context = openContext(memoryIo({ env: toService() }))
  expect((await resolveOrg('acme', context)).id).toBe(7)
  expect(await Promise.all([findOrg('acme', context), findOrg('7', context)])).toEqual([acme, acme])
  expect(service.seen).toHaveLength(1)
})

test('an organization is looked up again after it was not found, and in another run', async () => {
  service.next(json(404, { status: 'error', message: 'Organization not found', data: { code: 'not_found' } }))
  service.always(found)
  const context = openContext(memoryIo({ env: toService() }))
  await expect(findOrg('acme', context)).rejects.toThrow('Organization "acme" not found')
  expect(await findOrg('acme', context)).toEqual(acme)
  expect(await findOrg('acme', openContext(memoryIo({ env: toService() })))).toEqual(acme)
  expect(service.seen).toHaveLength(3)
})

test('a hint of the service names the organization as it was typed', async () => {
  const hint = 'svc user enroll 3 --org 7; svc user get 3 --org 77'
  const refusal = { code: 'conflict', hint }
  service.next(found)
  service.always(json(409, { status: 'error', message: 'User 3 has no active device', data: refusal }))
  const refused = await svc('group add sre --user 3 --org acme', { env: toService() })
  expect(refused.hint).toBe('svc user enroll 3 --org acme; svc user get 3 --org 77')
})

test('an agent, whose run lasts, gets the organization that has the slug now', async () => {
  service.next(found)
  service.always(json(200, { status: 'success', message: 'Organization', data: { ...acme, id: 8 } }))
  const context = openContext(memoryIo({ env: toService() }))
  expect((await resolveOrg('acme', context)).id).toBe(7)
  expect((await resolveOrgNow('acme', context)).id).toBe(8)
})

test.each([
  ['globex', acme],
  ['globex', { id: 7, name: 'Acme Corp' }],
  ['9', acme],
])('"%s" is refused if the service answers with %j', async (typed, data) => {
  service.always(json(200, { status: 'success', message: 'Organization', data }))
  const context = openContext(memoryIo({ env: toService() }))
  await expect(findOrg(typed, context)).rejects.toMatchObject({ code: 'other_organization', exit: 'failed' })
})
