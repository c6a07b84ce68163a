import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OperationId } from '../../../src/contract/table.ts'
import { createResponseCache } from '../../../src/service/http/response-cache.ts'
import { createTenant } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let handled: OperationId[]
let service: TestService
let acme: { id: number; key: string }
let other: { id: number; key: string }
beforeEach(async () => {
  handled = []
  service = await startTestService({
    handlers: {
      getOrganization: async (_input, call) => {
        handled.push('getOrganization')
        const row = await call.db
          .selectFrom('organizations')
          .where('id', '=', call.caller.orgId ?? acme.id)
          .selectAll()
          .executeTakeFirstOrThrow()
        return { ...row, policy: {} }
      },
      listAuthCodes: async () => {
        handled.push('listAuthCodes')
        return []
      },
    },
  })
  acme = await createTenant(service, 'acme')
  other = await createTenant(service, 'other')
  // The first use of a key is written down, which is a commit of its own.
  for (const key of [acme.key, other.key, undefined]) await service.call('GET', '/svc/v1/audit', { key })
  await service.storage.write(async () => undefined, { org: 0 })
})
afterEach(() => service.close())

const get = (path: string, key = acme.key, more = {}) => service.call('GET', path, { key, ...more })

describe('an answer of a read', () => {
  test('comes from memory while nothing is committed and no other node can commit', async () => {
    const first = await get(`/organization/${acme.id}`)
    const again = await get(`/organization/${acme.id}`)
    expect(handled).toHaveLength(service.storage.shared ? 2 : 1)
    expect([again.status, again.body]).toEqual([first.status, first.body])
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
  })

  test('is built again after any commit', async () => {
    await get(`/organization/${acme.id}`)
    await service.call('PUT', `/organization/${acme.id}/update`, { body: { name: 'New' } })
    expect((await get(`/organization/${acme.id}`)).body.data.name).toBe('New')
  })

  test('is never sent to another caller', async () => {
    expect((await get('/organization/acme')).body.data.slug).toBe('acme')
    expect((await get('/organization/acme', other.key)).status).toBe(404)
    expect((await get(`/organization/acme`, service.operatorKey)).status).toBe(200)
    expect(handled).toHaveLength(2)
  })

  test('is not sent to a key that was revoked since', async () => {
    await get(`/organization/${acme.id}`)
    const { body } = await service.call('GET', '/svc/v1/keys')
    const { id } = body.data.find((key: { org_id: number }) => key.org_id === acme.id)
    await service.call('DELETE', `/svc/v1/keys/${id}`)
    expect((await get(`/organization/${acme.id}`)).status).toBe(401)
  })

  test('is built each time if the operation is not cacheable', async () => {
    await get(`/organization/${acme.id}/get-org-auth-codes`)
    await get(`/organization/${acme.id}/get-org-auth-codes`)
    expect(handled).toEqual(['listAuthCodes', 'listAuthCodes'])
  })

  test('does not hide that the next request is wrong', async () => {
    await get(`/organization/${acme.id}`)
    const withBody = await get(`/organization/${acme.id}`, acme.key, { headers: { 'content-length': '2' } })
    expect(withBody.status).toBe(400)
    await get('/svc/v1/audit')
    expect((await get('/svc/v1/audit?x=1')).status).toBe(422)
  })

  test('still names the next page', async () => {
    const first = await get('/organizations?limit=1', service.operatorKey)
    expect(first.headers['link']).toContain('cursor=')
    const again = await get('/organizations?limit=1', service.operatorKey)
    expect(again.headers['link']).toBe(first.headers['link'])
  })
})

const kept = (text: string) => ({ text, headers: {} })

describe('what is kept', () => {
  test('is nothing that was read before a commit', () => {
    let revision = 1
    const answers = createResponseCache(() => revision)
    answers.find('a')
    revision = 2
    answers.find('another')
    answers.keep('a', 1, kept('old'))
    expect(answers.find('a')).toBeUndefined()
    answers.keep('a', 2, kept('new'))
    expect(answers.find('a')).toEqual(kept('new'))
  })

  test('stays small, however much is asked', () => {
    const answers = createResponseCache(() => 1)
    answers.find('')
    answers.keep('large', 1, kept('x'.repeat(64 * 1024)))
    expect(answers.find('large')).toBeUndefined()
    const names = Array.from({ length: 200 }, (_, n) => `name ${n}`)
    for (const name of names) answers.keep(name, 1, kept('x'.repeat(60_000)))
    expect(names.filter((name) => answers.find(name)).length).toBeLessThanOrEqual(70)
    expect(answers.find('name 199')).toBeDefined()
  })
})
