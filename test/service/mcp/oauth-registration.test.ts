import { describe, expect, test } from 'vitest'
import { authorize, callback, createVerifier, obtainCode, register, registered } from './oauth-client.ts'
import { ada, clock, service, installHooks } from './oauth-stage.ts'

installHooks()

describe('a registration', () => {
  test('returns a public client without a secret', async () => {
    const { status, text } = await register(service, {
      client_name: 'Robo Coder',
      redirect_uris: [callback],
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'refresh_token'],
    })
    expect([status, JSON.parse(text)]).toEqual([
      201,
      {
        client_id: expect.stringMatching(/^svc_client_[0-9a-f]{64}$/),
        client_id_issued_at: expect.any(Number),
        client_name: 'Robo Coder',
        redirect_uris: [callback],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: 'ask',
      },
    ])
  })

  test.each([
    ['nothing', {}, 'invalid_redirect_uri'],
    ['no address', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['http elsewhere', { redirect_uris: ['http://evil.example/cb'] }, 'invalid_redirect_uri'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a fragment', { redirect_uris: ['https://app.example/cb#x'] }, 'invalid_redirect_uri'],
    ['a user name', { redirect_uris: ['https://u:p@app.example/cb'] }, 'invalid_redirect_uri'],
    ['another grant', { redirect_uris: [callback], grant_types: ['password'] }, 'invalid_client_metadata'],
    ['a name that is no text', { redirect_uris: [callback], client_name: 7 }, 'invalid_client_metadata'],
  ])('with %s is refused as OAuth says it', async (_, metadata, error) => {
    const { status, text } = await register(service, metadata)
    expect([status, JSON.parse(text).error]).toEqual([400, error])
  })

  test('is forgotten after an hour unless a person consented', async () => {
    const unused = await registered(service)
    const { client_id: used } = await obtainCode(service, ada)
    clock.tick(3_700_000)
    const { code_challenge } = createVerifier()
    expect((await authorize(service, { client_id: unused, code_challenge })).status).toBe(401)
    expect((await authorize(service, { client_id: used, code_challenge })).status).toBe(302)
  })

  test('is limited to 30 an hour from one address', async () => {
    const metadata = { redirect_uris: [callback] }
    for (let n = 0; n < 30; n++) expect((await register(service, metadata)).status).toBe(201)
    const { status, headers, text } = await register(service, metadata)
    expect([status, JSON.parse(text).error]).toEqual([429, 'temporarily_unavailable'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('cannot be changed in the store', async () => {
    const client_id = await registered(service)
    await service.runSql(`update oauth_clients set metadata = replace(metadata, '127.0.0.1', 'localhost')`)
    const { code_challenge } = createVerifier()
    const redirect_uri = callback.replace('127.0.0.1', 'localhost')
    expect((await authorize(service, { client_id, code_challenge, redirect_uri })).status).toBe(401)
  })
})
