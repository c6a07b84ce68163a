import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditOf, contentsOf, createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

describe('credentials of an organization', () => {
  const idp = { provider: 'okta', client_id: '0oa1b2', client_secret: 'canary-of-the-provider' }

  test('keep the secret of the identity provider wrapped and never show it', async () => {
    const { id } = await createTenant(service, 'acme')
    const saved = await service.call('POST', `/organization/${id}/idp-api-creds`, { body: idp })
    expect(dataOf(saved)).toMatchObject({ provider: 'okta', client_id: '0oa1b2', client_secret_set: true })
    const shown = await service.call('GET', `/organization/${id}/get-org-api-creds`)
    expect(dataOf(shown).idp).toMatchObject({ provider: 'okta', client_secret_set: true })

    const contents = await contentsOf(service)
    expect(JSON.stringify([saved.body, shown.body, contents])).not.toContain(idp.client_secret)
    const [row] = contents.idp_credentials as { wrapped_secret: string }[]
    expect(service.keyring.unwrap(row!.wrapped_secret, `idp_credentials:${id}`)).toBe(idp.client_secret)
    expect(() => service.keyring.unwrap(row!.wrapped_secret, 'idp_credentials:99')).toThrow(
      'unable to authenticate',
    )
  })

  test('are replaced by the next', async () => {
    const { id } = await createTenant(service, 'acme')
    for (const provider of ['okta', 'entra'])
      await service.call('POST', `/organization/${id}/idp-api-creds`, { body: { ...idp, provider } })
    const shown = dataOf(await service.call('GET', `/organization/${id}/get-org-api-creds`))
    expect(shown.idp.provider).toBe('entra')
    expect((await auditOf(service, id)).at(-1)).toEqual([
      'setIdpCredentials',
      `organization:${id}`,
      ['provider', 'client_id', 'client_secret'],
    ])
  })

  test('show the keys of the organization by their prefix only', async () => {
    const { id, key } = await createTenant(service, 'acme')
    const answer = await service.call('GET', `/organization/${id}/get-org-api-creds`, { key })
    const { api_keys, idp: none } = dataOf(answer)
    expect(none).toBeNull()
    expect(api_keys).toMatchObject([{ name: 'of acme', kind: 'organization', org_id: id }])
    expect(key.startsWith(api_keys[0].prefix)).toBe(true)
    expect(JSON.stringify(answer.body)).not.toContain(key)
    expect(api_keys[0]).not.toHaveProperty('hash')
  })
})
