import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ada, auditOf, contentsOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

const onboard = (body: object) => service.call('POST', '/organization/create/onboarding', { body })

describe('onboarding', () => {
  test('creates the organization, its administrator, a link, a code and a key that works', async () => {
    const made = dataOf(await onboard({ name: 'Acme Corp', slug: 'acme', ...ada }))
    const { id } = made.organization
    expect(made.organization).toMatchObject({ slug: 'acme' })
    expect(made.admin).toMatchObject({
      mobile: '2025550101',
      mobile_e164: '+12025550101',
      role: 'admin',
      state: 'active',
      org_id: id,
    })
    expect(made.enrollment.url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/approver#enroll=[\w-]{43}$/)
    expect(made.auth_code).toMatchObject({ label: 'First auth code', org_id: id, uses_left: null })
    expect(made.api_key).toMatchObject({ name: 'first key', kind: 'organization', org_id: id })
    const { key } = made.api_key
    expect(dataOf(await service.call('GET', '/organizations', { key }))).toMatchObject([{ slug: 'acme' }])
    expect((await auditOf(service, id)).map(([action, subject]) => [action, subject])).toEqual([
      ['onboardOrganization', `organization:${id}`],
      ['onboardOrganization', `user:${made.admin.id}`],
      ['onboardOrganization', `auth-code:${made.auth_code.id}`],
      ['onboardOrganization', `key:${made.api_key.id}`],
    ])
  })

  test('stores its three secrets as hashes only', async () => {
    const made = dataOf(await onboard({ name: 'Acme', ...ada }))
    const kept = JSON.stringify(await contentsOf(service))
    const token = made.enrollment.url.split('=')[1]
    for (const secret of [
      token,
      made.auth_code.code,
      made.auth_code.code.replaceAll('-', ''),
      made.api_key.key,
    ])
      expect(kept).not.toContain(secret)
  })

  test.each([
    ['a mobile that cannot be', { mobile: '12' }, 'mobile'],
    ['a prefix that is none', { country_code: '+999' }, 'country_code'],
  ])('leaves nothing behind after %s', async (_, wrong, field) => {
    const before = await contentsOf(service)
    expect(refusal(await onboard({ name: 'Acme', ...ada, ...wrong }))).toEqual([
      422,
      'invalid_field',
      [field],
    ])
    expect(await contentsOf(service)).toEqual(before)
  })

  test('leaves nothing behind if the last step fails', async () => {
    const before = await contentsOf(service)
    // The key comes last.
    await service.runSql('CREATE UNIQUE INDEX no_second_key ON api_keys ((name IS NOT NULL))')
    try {
      expect((await onboard({ name: 'Acme', ...ada })).status).toBe(500)
    } finally {
      await service.runSql('DROP INDEX no_second_key')
    }
    expect(await contentsOf(service)).toEqual(before)
  })

  test('links an administrator who is in another organization', async () => {
    const { id } = await createTenant(service, 'other')
    const known = await createMember(service, id, 1)
    const { admin } = dataOf(await onboard({ name: 'Acme', ...ada }))
    expect(admin.id).toBe(known.id)
    expect(admin).toMatchObject({ email: ada.email, role: 'admin' })
  })
})
