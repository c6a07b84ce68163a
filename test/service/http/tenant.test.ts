import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { table } from '../../../src/contract/table.ts'
import { refuseForeignTenant } from '../../../src/service/call/tenant.ts'
import { allScopes } from '../all-scopes.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
let acmeKey: string
let acme: number
let beta: number

const create = async (name: string): Promise<number> =>
  (await service.call('POST', '/organization/create', { body: { name } })).body.data.id

beforeAll(async () => {
  service = await startTestService()
  acme = await create('Acme')
  beta = await create('Beta')
  const { body } = await service.call('POST', '/svc/v1/keys', {
    body: { name: 'acme ci', org_id: acme, scopes: ['all'] },
  })
  acmeKey = body.data.key
})
afterAll(() => service.close())

const ask = (path: string) => service.call('GET', path, { key: acmeKey })

describe('a key of an organization', () => {
  test('reaches its own by id and by slug', async () => {
    expect((await ask(`/organization/${acme}`)).body.data.slug).toBe('acme')
    expect((await ask('/organization/acme')).body.data.id).toBe(acme)
    expect((await ask(`/organization/${acme}/users`)).status).toBe(200)
  })

  test.each([
    ['/organization/BETA', '/organization/99'],
    ['/organization/beta', '/organization/nobody'],
    ['/organization/BETA/users', '/organization/99/users'],
    ['/organization/BETA/user/1', '/organization/99/user/1'],
    ['/svc/v1/keys?org_id=BETA', '/svc/v1/keys?org_id=99'],
    ['/svc/v1/audit?org_id=0', '/svc/v1/audit?org_id=99'],
  ])('finds %s exactly as absent as %s', async (foreign, absent) => {
    const [one, two] = [await ask(foreign.replace('BETA', String(beta))), await ask(absent)]
    expect(one.status).toBe(404)
    expect(one.body).toEqual(two.body)
  })

  test('gets 403 on operations for operators', async () => {
    const { status, body } = await service.call('POST', '/organization/create', {
      key: acmeKey,
      body: { name: 'Mine' },
    })
    expect(status).toBe(403)
    expect(body.data.code).toBe('operator_only')
  })

  test('is rejected immediately after it is revoked', async () => {
    const { body } = await service.call('POST', '/svc/v1/keys', {
      body: { name: 'short', org_id: acme, scopes: ['all'] },
    })
    const use = () => service.call('GET', `/organization/${acme}`, { key: body.data.key })
    expect((await use()).status).toBe(200)
    expect((await service.call('DELETE', `/svc/v1/keys/${body.data.id}`)).status).toBe(200)
    expect((await use()).status).toBe(401)
  })
})

test('the guard knows every field of the table that names an organization', () => {
  const names = new Set(
    Object.values(table)
      .flatMap(({ input }) => Object.keys(input._zod.def.shape))
      .filter((name) => /^org/i.test(name)),
  )
  const caller = { keyId: 1, name: 'x', orgId: 1, orgSlug: 'acme', scopes: allScopes }
  expect(names.size).toBeGreaterThanOrEqual(4)
  for (const name of names) expect(() => refuseForeignTenant(caller, { [name]: 2 })).toThrow('not found')
})
