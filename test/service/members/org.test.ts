import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditOf, contentsOf, createMember, createTenant, dataOf, fence, refusal, slot } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

const create = (body: object) => service.call('POST', '/organization/create', { body })

describe('creating an organization', () => {
  test('derives the slug from the name and returns the record', async () => {
    const record = dataOf(await create({ name: 'Café Größe & Co.' }))
    expect(record).toMatchObject({ name: 'Café Größe & Co.', slug: 'cafe-gro-e-co', policy: {} })
    expect(record.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(await auditOf(service, record.id)).toEqual([
      ['createOrganization', `organization:${record.id}`, ['name']],
    ])
  })

  test('accepts a slug', async () => {
    expect(dataOf(await create({ name: 'Acme Corp', slug: 'acme' })).slug).toBe('acme')
  })

  test('refuses a slug that is taken, and says how to set another', async () => {
    await create({ name: 'Acme' })
    const answer = await create({ name: 'ACME' })
    expect(refusal(answer)).toEqual([409, 'slug_taken', []])
    expect(answer.body.data.hint).toContain('--slug')
  })

  test.each(['create', 'user', 'remove'])('refuses the slug %s, which is a word of a path', async (slug) => {
    expect(refusal(await create({ name: 'Acme', slug }))).toEqual([422, 'invalid_field', ['slug']])
    expect(refusal(await create({ name: slug }))).toEqual([422, 'invalid_field', ['slug']])
  })

  test.each(['株式会社', '!!!', '2024', '- -'])(
    'asks for a slug when none can be made from %j',
    async (name) => {
      expect(refusal(await create({ name }))).toEqual([422, 'invalid_field', ['slug']])
      expect(dataOf(await create({ name, slug: 'given' })).slug).toBe('given')
    },
  )

  test('stores networks in one spelling, once each', async () => {
    const ip_allow = [
      '203.0.113.7/24',
      '203.0.113.0/24',
      '192.0.2.1',
      '2001:DB8:0:0::1/32',
      '::ffff:192.0.2.1',
    ]
    const record = dataOf(await create({ name: 'Acme', policy: { ip_allow, require_number: true } }))
    expect(record.policy).toEqual({
      ip_allow: ['203.0.113.0/24', '192.0.2.1/32', '2001:db8::/32'],
      require_number: true,
    })
  })

  test('names the entry of the policy that is not a valid network', async () => {
    const policy = { ip_allow: ['192.0.2.0/24', '192.0.2.0/33'] }
    expect(refusal(await create({ name: 'Acme', policy }))).toEqual([
      422,
      'invalid_field',
      ['policy.ip_allow[1]'],
    ])
    expect(dataOf(await service.call('GET', '/organizations'))).toEqual([])
  })
})

describe('finding organizations', () => {
  test('finds one by id and by slug', async () => {
    const record = dataOf(await create({ name: 'Acme' }))
    expect(dataOf(await service.call('GET', `/organization/${record.id}`))).toEqual(record)
    expect(dataOf(await service.call('GET', '/organization/acme'))).toEqual(record)
  })

  test.each(['0', 'nobody', '999999999999999', '99999999999999999999'])(
    'knows no organization %s',
    async (id) => {
      await create({ name: 'Acme' })
      expect(refusal(await service.call('GET', `/organization/${id}`))).toEqual([404, 'not_found', []])
    },
  )

  test('lists all to an operator, in the order of their ids and by pages', async () => {
    for (const name of ['one', 'two', 'three']) await create({ name })
    const all = dataOf(await service.call('GET', '/organizations'))
    expect(all.map((row: { slug: string }) => row.slug)).toEqual(['one', 'two', 'three'])

    const first = await service.call('GET', '/organizations?limit=2')
    expect(dataOf(first)).toHaveLength(2)
    const next = new URL(/^<([^>]+)>; rel="next"$/.exec(first.headers.link!)![1]!)
    const second = await service.call('GET', `/organizations${next.search}`)
    expect(dataOf(second)).toEqual([all[2]])
    expect(second.headers.link).toBeUndefined()
  })

  test('shows only its own organization to a key', async () => {
    const acme = await createTenant(service, 'acme')
    await createTenant(service, 'other')
    const { key } = acme
    expect(dataOf(await service.call('GET', '/organizations', { key }))).toMatchObject([{ id: acme.id }])
    expect(dataOf(await service.call('GET', '/organization/acme', { key }))).toMatchObject({ id: acme.id })
    expect((await service.call('GET', '/organization/other', { key })).status).toBe(404)
  })
})

const update = async (body: object, slug = 'acme') => {
  const { id } = dataOf(await service.call('GET', `/organization/${slug}`))
  return service.call('PUT', `/organization/${id}/update`, { body })
}

describe('updating an organization', () => {
  test('changes the fields that are set and merges the policy key by key', async () => {
    await create({ name: 'Acme', policy: { require_number: true, factors: ['location'] } })
    const record = dataOf(await update({ slug: 'acme-2', policy: { factors: ['time'], device_trust: true } }))
    expect(record).toMatchObject({
      name: 'Acme',
      slug: 'acme-2',
      policy: { require_number: true, factors: ['time'], device_trust: true },
    })
    expect(dataOf(await service.call('GET', '/organization/acme-2'))).toEqual(record)
    expect((await auditOf(service, record.id)).at(-1)).toEqual([
      'updateOrganization',
      `organization:${record.id}`,
      ['slug', 'policy.device_trust', 'policy.factors'],
    ])
  })

  test('refuses an update of nothing and names what can be changed', async () => {
    await create({ name: 'Acme' })
    const answer = await update({})
    expect(refusal(answer)).toEqual([422, 'nothing_to_change', []])
    expect(answer.body.data.hint).toBe('Set one or more of name, slug, policy')
  })

  test('refuses the slug of another organization and accepts its own', async () => {
    await create({ name: 'one' })
    await create({ name: 'two' })
    expect(refusal(await update({ slug: 'two' }, 'one'))).toEqual([409, 'slug_taken', []])
    expect(refusal(await update({ slug: 'user' }, 'one'))).toEqual([422, 'invalid_field', ['slug']])
    expect(dataOf(await update({ slug: 'one' }, 'one')).slug).toBe('one')
  })

  test('reveals nothing about other slugs to a key of the organization', async () => {
    const acme = await createTenant(service, 'acme')
    await createTenant(service, 'other')
    const rename = (slug: string) =>
      service.call('PUT', `/organization/${acme.id}/update`, { key: acme.key, body: { slug } })
    for (const slug of ['other', 'unused'])
      expect(refusal(await rename(slug))).toEqual([403, 'operator_only', []])
    expect(dataOf(await rename('acme')).slug).toBe('acme')
  })

  test('knows no organization that is not there', async () => {
    expect((await service.call('PUT', '/organization/9/update', { body: { name: 'x' } })).status).toBe(404)
  })
})

describe('deleting an organization', () => {
  test('deletes all its data, ends its keys immediately, and keeps the audit', async () => {
    const acme = await createTenant(service, 'acme')
    const other = await createTenant(service, 'other')
    const gone = await createMember(service, acme.id, 1)
    const shared = await createMember(service, acme.id, 2)
    await createMember(service, other.id, 2)
    await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence })
    await service.call('POST', `/organization/${acme.id}/timeslots/add`, { body: slot })
    await service.call('POST', `/organization/${acme.id}/create/auth-code`, { body: { label: 'x' } })
    await service.call('POST', `/organization/${acme.id}/idp-api-creds`, {
      body: { provider: 'okta', client_id: 'a', client_secret: 'b' },
    })
    await service.call('PUT', `/user/${gone.id}/timeslots/update`, { body: { timeslots: [slot] } })

    expect((await service.call('DELETE', `/organization/${acme.id}/delete`, { key: acme.key })).status).toBe(
      200,
    )
    expect((await service.call('GET', '/organizations', { key: acme.key })).status).toBe(401)
    expect((await service.call('GET', `/organization/${acme.id}`)).status).toBe(404)

    const { audit, ...rest } = await contentsOf(service)
    expect(JSON.stringify(rest)).not.toContain(`"org_id":${acme.id}`)
    expect(rest.organizations).toHaveLength(1)
    expect(rest.people).toMatchObject([{ id: Number(shared.id) }])
    expect(audit!.length).toBeGreaterThan(8)
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'deleteOrganization',
      `organization:${acme.id}`,
      [],
    ])
  })

  test('never reuses its id', async () => {
    const { id } = dataOf(await create({ name: 'one' }))
    await service.call('DELETE', `/organization/${id}/delete`)
    expect(dataOf(await create({ name: 'one' })).id).toBeGreaterThan(id)
    expect((await service.call('DELETE', `/organization/${id}/delete`)).status).toBe(404)
  })
})
