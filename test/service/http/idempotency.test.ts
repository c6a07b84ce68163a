import { afterEach, beforeEach, expect, test } from 'vitest'
import { startTestService, type TestService } from '../harness.ts'
import { createMobileUser } from '../mobile-user.ts'

let service: TestService
let time: number
beforeEach(async () => {
  time = Date.parse('2030-01-01T00:00:00Z')
  service = await startTestService({ now: () => new Date(time) })
})
afterEach(() => service.close())

const create = (body: unknown, idempotencyKey: string, key?: string) =>
  service.call('POST', '/organization/create', { body, key, headers: { 'idempotency-key': idempotencyKey } })
const organizations = async () => (await service.call('GET', '/organizations')).body.data.length

test('a repeat under the same key does nothing and answers the same', async () => {
  const first = await create({ name: 'Acme' }, 'k1')
  const second = await create({ name: 'Acme' }, 'k1')
  expect(first.status).toBe(200)
  expect(second.body).toEqual(first.body)
  expect(first.headers).not.toHaveProperty('idempotent-replayed')
  expect(second.headers['idempotent-replayed']).toBe('true')
  expect(await organizations()).toBe(1)
})

test('repeats at the same time do the work once', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'Acme' }, 'k1')))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(answers.filter(({ headers }) => headers['idempotent-replayed'])).toHaveLength(7)
  expect(await organizations()).toBe(1)
})

test('another request under the same key is 409', async () => {
  await create({ name: 'Acme' }, 'k1')
  const { status, body } = await create({ name: 'Other' }, 'k1')
  expect(status).toBe(409)
  expect(body.data.code).toBe('idempotency_key_reused')
  expect(await organizations()).toBe(1)
})

test('a request that failed is tried again', async () => {
  const { id } = (await create({ name: 'Acme', slug: 'acme' }, 'k0')).body.data
  expect((await create({ name: 'Beta', slug: 'acme' }, 'k1')).status).toBe(409)
  await service.call('PUT', `/organization/${id}/update`, { body: { slug: 'old' } })
  expect((await create({ name: 'Beta', slug: 'acme' }, 'k1')).status).toBe(200)
})

test.each([
  ['changed', `UPDATE idempotency SET answer = '{"status":"success","data":{"id":7}}'`],
  ['moved to another key', "UPDATE idempotency SET idempotency_key = 'k1' WHERE idempotency_key = 'k0'"],
  ['made last longer', "UPDATE idempotency SET created_at = '2030-01-01T00:00:01.000Z'"],
])('a stored response that another program has %s is no answer', async (_, sql) => {
  const first = await create({ name: 'Acme' }, sql.includes('k0') ? 'k0' : 'k1')
  await service.runSql(sql)
  const { status, body } = await create({ name: 'Acme' }, 'k1')
  expect([first.status, status, body.data.code]).toEqual([200, 403, 'response_not_authentic'])
  expect(await organizations()).toBe(1)
  expect((await create({ name: 'Beta' }, 'k2')).status).toBe(200)
})

test('a repeat leaves out the secret and marks that', async () => {
  const make = () =>
    service.call('POST', '/svc/v1/keys', {
      body: { name: 'ci', scopes: ['all'] },
      headers: { 'idempotency-key': 'k1' },
    })
  const first = await make()
  const second = await make()
  expect(first.body.data.key).toMatch(/^svc_op_/)
  expect(second.body.data).not.toHaveProperty('key')
  expect(second.body.data).toMatchObject({ id: first.body.data.id, secret_already_shown: true })
  const kept = await service.storage.read((db) => db.selectFrom('idempotency').selectAll().execute())
  expect(JSON.stringify(kept)).not.toContain(first.body.data.key)
})

const onboard = () =>
  service.call('POST', '/organization/create/onboarding', {
    headers: { 'idempotency-key': 'k1' },
    body: {
      name: 'Acme',
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@acme.example',
      country_code: '+1',
      mobile: '2025550101',
    },
  })

test('secrets inside are left out at every depth', async () => {
  const first = await onboard()
  const second = await onboard()
  expect(first.status).toBe(200)
  for (const secret of [
    first.body.data.api_key.key,
    first.body.data.auth_code.code,
    first.body.data.enrollment.url,
  ]) {
    expect(secret.length).toBeGreaterThan(8)
    expect(JSON.stringify(second.body)).not.toContain(secret)
  }
  expect(second.body.data).toMatchObject({ secret_already_shown: true, organization: { name: 'Acme' } })
})

test('one caller does not see the answers of another', async () => {
  await create({ name: 'Acme' }, 'k1')
  const { body } = await service.call('POST', '/svc/v1/keys', { body: { name: 'second', scopes: ['all'] } })
  const { headers, status } = await create({ name: 'Acme two' }, 'k1', body.data.key)
  expect(status).toBe(200)
  expect(headers).not.toHaveProperty('idempotent-replayed')
})

test('callers without a key share no answers and take no key from each other', async () => {
  for (const mobile of ['2025550101', '2025550102'])
    await createMobileUser(service, { mobile, email: `user${mobile}@acme.example` })
  const links = (await service.messages()).filter(({ kind }) => kind === 'email_verification')
  const verify = (n: number) =>
    service.call('POST', '/svc/v1/approver/email-verification', {
      key: null,
      body: { token: /verify-email=([\w-]+)/.exec(links[n]!.text)![1] },
      headers: { 'idempotency-key': 'k1', 'sec-fetch-site': 'same-origin' },
    })
  const answers = [await verify(0), await verify(1), await verify(0)]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(answers.map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, undefined, 'true'])
})

test('a repeat with the next secret of a rotated key is still a repeat', async () => {
  const { body } = await service.call('POST', '/svc/v1/keys', { body: { name: 'ci', scopes: ['all'] } })
  await create({ name: 'Acme' }, 'k1', body.data.key)
  const rotated = await service.call('POST', `/svc/v1/keys/${body.data.id}/rotate`, { body: {} })
  const { headers } = await create({ name: 'Acme' }, 'k1', rotated.body.data.key)
  expect(headers['idempotent-replayed']).toBe('true')
  expect(await organizations()).toBe(1)
})

test('after 24 hours a key is fresh again', async () => {
  await create({ name: 'Acme' }, 'k1')
  time += 24 * 3600 * 1000 - 1
  expect((await create({ name: 'Acme' }, 'k1')).headers['idempotent-replayed']).toBe('true')
  time += 2
  expect((await create({ name: 'Beta' }, 'k1')).status).toBe(200)
  expect(await organizations()).toBe(2)
})

test.each([
  ['empty', ''],
  ['too long', 'x'.repeat(256)],
  ['not ASCII', 'clé'],
])('a key that is %s is 400', async (_, key) => {
  const { status, body } = await create({ name: 'Acme' }, key)
  expect(status).toBe(400)
  expect(body.data.code).toBe('bad_idempotency_key')
  expect(await organizations()).toBe(0)
})
