import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createAuthenticator } from '../../../src/service/keys/authenticator.ts'
import { answerTo, createPhone, fromPhone, type Phone } from '../approver/phone.ts'
import { createClock } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { call } from './http-tools.ts'
import {
  authorize,
  callback,
  callTools,
  connect,
  consentFrom,
  createVerifier,
  exchange,
  listTools,
  obtainCode,
  origin,
  register,
  registered,
  requestIn,
  send,
  sendForm,
} from './oauth-client.ts'

let service: TestService
let clock: ReturnType<typeof createClock>
let acme: { id: number; key: string }
let ada: Phone

beforeEach(async () => {
  clock = createClock()
  service = await startTestService({ now: clock.now, tools: true, dev: true })
  acme = await createTenant(service, 'acme')
  ada = await createPhone(service, acme.id, 1)
})
afterEach(() => service.close())

const agentsOf = async () => dataOf(await service.call('GET', '/svc/v1/agents', { key: acme.key }))

const prepare = async () => {
  const { code_challenge } = createVerifier()
  return requestIn(await authorize(service, { client_id: await registered(service), code_challenge }))
}

describe('discovery', () => {
  test('a call without a token names the metadata of the resource', async () => {
    const { status, headers } = await callTools(service, undefined, listTools)
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="ask"`,
    ])
  })

  test('a call with a wrong token says that the token is not valid', async () => {
    const { status, headers } = await callTools(service, 'svc_org_00000000_no', listTools)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", resource_metadata=/)
  })

  test.each(['GET', 'DELETE'])('%s /mcp without a token is a 401', async (method) => {
    expect((await send(service, method, '/mcp')).status).toBe(401)
  })

  test('the metadata lead from the tools to the authorization server', async () => {
    const resource = await send(service, 'GET', '/.well-known/oauth-protected-resource/mcp')
    expect(JSON.parse(resource.text)).toMatchObject({
      resource: `${origin}/mcp`,
      authorization_servers: [origin],
      scopes_supported: ['ask'],
    })
    const server = await send(service, 'GET', '/.well-known/oauth-authorization-server')
    expect(JSON.parse(server.text)).toMatchObject({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    })
  })

  test('the metadata ask clients to register when their documents cannot be reached', async () => {
    const { code_challenge } = createVerifier()
    const { text } = await authorize(service, { client_id: 'http://127.0.0.1:9/client.json', code_challenge })
    expect(text).toContain('Connect the client again')
    const server = await send(service, 'GET', '/.well-known/oauth-authorization-server')
    expect(JSON.parse(server.text).client_id_metadata_document_supported).toBe(false)
  })

  test('the resource has the name by which a client on this machine reached it', async () => {
    const path = 'http://localhost:8080/.well-known/oauth-protected-resource'
    const response = await service.app.request(path, { headers: { host: 'localhost:8080' } })
    expect((await response.json()) as object).toMatchObject({ resource: 'http://localhost:8080/mcp' })
  })
})

describe('an agent that a person connected', () => {
  test('can ask, has the person as its default approver, and is shown with both names', async () => {
    const token = await connect(service, ada)
    const asked = await callTools(service, token, call('request_approval_async', { action: 'Deploy' }))
    expect(asked.text).toContain('"status\\":\\"pending')
    const { requests } = dataOf(await fromPhone(service, 'GET', 'requests', { cookie: ada.cookie }))
    expect(requests).toMatchObject([
      { action: 'Deploy', verified_as: expect.stringMatching(/^agent "Coder" \(consented by .+\)$/) },
    ])
    expect(await agentsOf()).toMatchObject([
      { name: 'Coder', client_name: 'Robo Coder', owner_user_id: ada.user, org_id: acme.id },
    ])
  })

  test('returns the state and the issuer to the client', async () => {
    const { back } = await obtainCode(service, ada)
    expect([
      back.origin + back.pathname,
      back.searchParams.get('state'),
      back.searchParams.get('iss'),
    ]).toEqual([callback, 'abc', origin])
  })

  test('has a key that works nowhere else', async () => {
    const token = await connect(service, ada)
    expect((await service.call('GET', '/svc/v1/whoami', { key: token })).status).toBe(401)
    expect((await service.call('GET', '/svc/v1/approvals', { key: token })).status).toBe(401)
  })

  test('has a key for this address only', async () => {
    const authenticate = createAuthenticator(service.service)
    const token = await connect(service, ada)
    expect(await authenticate(token, 'http://127.0.0.1:9090/mcp')).toBeUndefined()
    expect(await authenticate(token, `${origin}/mcp`)).toMatchObject({ orgId: acme.id })
  })

  test.each([
    ['is removed', 'POST', '/organization/remove/user'],
    ['is put on hold', 'POST', ''],
  ])('ends when its person %s', async (_, method, path) => {
    const token = await connect(service, ada)
    const target = path || `/organization/${acme.id}/user/${ada.user}/pending`
    const body = path ? { org_id: acme.id, user_id: ada.user } : {}
    dataOf(await service.call(method, target, { body }))
    expect((await callTools(service, token, listTools)).status).toBe(401)
    expect(await agentsOf()).toEqual([])
  })

  test('expires after 90 days', async () => {
    const token = await connect(service, ada)
    clock.tick(89 * 86_400_000)
    expect((await callTools(service, token, listTools)).status).toBe(200)
    clock.tick(2 * 86_400_000)
    expect((await callTools(service, token, listTools)).status).toBe(401)
  })

  test('is revoked by its client, by its person, and by an administrator of keys', async () => {
    const tokens = [await connect(service, ada), await connect(service, ada), await connect(service, ada)]
    const names = (await agentsOf()).map(({ name }: { name: string }) => name)
    expect(names).toEqual(['Coder', 'Coder 2', 'Coder 3'])
    expect((await sendForm(service, '/revoke', { token: tokens[0]! })).status).toBe(200)
    const { agents } = dataOf(await fromPhone(service, 'GET', 'agents', { cookie: ada.cookie }))
    const path = `agents/${agents[0].id}/revocation`
    dataOf(await fromPhone(service, 'POST', path, { cookie: ada.cookie }))
    await service.call('DELETE', `/svc/v1/agents/${agents[1].id}`, { key: acme.key })
    for (const token of tokens) expect((await callTools(service, token, listTools)).status).toBe(401)
    expect(await agentsOf()).toEqual([])
  })

  test('is not revoked by another person or another organization', async () => {
    const token = await connect(service, ada)
    const [{ id }] = await agentsOf()
    const eve = await createPhone(service, acme.id, 2)
    const foreign = await createTenant(service, 'globex')
    expect((await fromPhone(service, 'POST', `agents/${id}/revocation`, { cookie: eve.cookie })).status).toBe(
      404,
    )
    expect((await service.call('DELETE', `/svc/v1/agents/${id}`, { key: foreign.key })).status).toBe(404)
    expect((await sendForm(service, '/revoke', { token, client_id: 'svc_client_other' })).status).toBe(401)
    expect((await callTools(service, token, listTools)).status).toBe(200)
  })

  test('leaves its consent, its key and its end in the audit', async () => {
    const token = await connect(service, ada)
    await sendForm(service, '/revoke', { token })
    const rows = dataOf(await service.call('GET', `/svc/v1/audit?org_id=${acme.id}`)) as {
      action: string
      actor: string
    }[]
    const actor = expect.stringContaining(`user:${ada.user} (device ${ada.device})`)
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'giveConsent', actor }),
        expect.objectContaining({ action: 'connectAgent', actor }),
        expect.objectContaining({ action: 'disconnectAgent' }),
      ]),
    )
  })
})

describe('consent', () => {
  test('shows who asks, for what, and where the answer goes', async () => {
    const request = await prepare()
    const body = { request }
    const shown = dataOf(await fromPhone(service, 'POST', 'consent/request', { cookie: ada.cookie, body }))
    expect(shown).toEqual({
      client_name: 'Robo Coder',
      client_host: null,
      redirect_host: '127.0.0.1:5555',
      organization: 'acme',
      name: 'Robo Coder',
      scope: 'ask',
      days: 90,
    })
  })

  test('requires the device, not only its session', async () => {
    const request = await prepare()
    const response = { id: 'x', response: {} }
    const body = { request, name: 'Coder', challenge: 'x', response }
    expect((await fromPhone(service, 'POST', 'consent', { cookie: ada.cookie, body })).status).toBe(410)
  })

  test('is bound to the request, the name and the person, and counts once', async () => {
    const [request, other] = [await prepare(), await prepare()]
    const eve = await createPhone(service, acme.id, 2)
    const begin = async () =>
      dataOf(
        await fromPhone(service, 'POST', 'consent/challenge', {
          cookie: ada.cookie,
          body: { request, name: 'Coder' },
        }),
      ).challenge as string
    const give = async (change: object, cookie = ada.cookie) => {
      const challenge = await begin()
      const body = { request, name: 'Coder', challenge, response: answerTo(challenge, ada.key), ...change }
      return (await fromPhone(service, 'POST', 'consent', { cookie, body })).status
    }
    expect(await give({ request: other })).toBe(410)
    expect(await give({ name: 'Payroll' })).toBe(410)
    expect(await give({}, eve.cookie)).toBe(410)
    const challenge = await begin()
    const body = { request, name: 'Coder', challenge, response: answerTo(challenge, ada.key) }
    expect((await fromPhone(service, 'POST', 'consent', { cookie: ada.cookie, body })).status).toBe(200)
    expect((await fromPhone(service, 'POST', 'consent', { cookie: ada.cookie, body })).status).toBe(410)
  })

  test('is refused with access_denied, the state and the issuer', async () => {
    const request = await prepare()
    const { redirect_to } = dataOf(await fromPhone(service, 'POST', 'consent/refusal', { body: { request } }))
    const { searchParams } = new URL(redirect_to as string)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'abc',
      iss: origin,
    })
  })

  test('ends with the request after ten minutes', async () => {
    const request = await prepare()
    clock.tick(10 * 60_000)
    const body = { request }
    expect((await fromPhone(service, 'POST', 'consent/request', { cookie: ada.cookie, body })).status).toBe(
      410,
    )
  })

  test('stops at 20 agents of one person', async () => {
    for (let n = 0; n < 20; n++) await connect(service, ada)
    const answer = await consentFrom(service, ada, await prepare())
    expect([answer.status, answer.body.data.code]).toEqual([409, 'too_many_agents'])
  })
})

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

describe('an authorization request', () => {
  test.each([
    ['no PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method', { code_challenge_method: undefined }, 'invalid_request'],
    ['a token', { response_type: 'token' }, 'unsupported_response_type'],
    ['more than asking', { scope: 'ask keys' }, 'invalid_scope'],
    ['another audience', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['the whole origin', { resource: origin }, 'invalid_target'],
  ])('with %s goes back to the client as an error', async (_, fields, error) => {
    const { code_challenge } = createVerifier()
    const given = { client_id: await registered(service), code_challenge, ...fields }
    const { status, headers } = await authorize(service, given)
    const back = new URL(headers.get('location')!)
    expect([status, back.origin + back.pathname, back.searchParams.get('error')]).toEqual([
      302,
      callback,
      error,
    ])
    expect([back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual(['abc', origin])
  })

  test.each([
    ['an unknown client', { client_id: 'svc_client_unknown' }],
    ['no redirect address', { redirect_uri: undefined }],
    ['another path', { redirect_uri: 'http://127.0.0.1:5555/callback/evil' }],
    ['another host', { redirect_uri: 'http://localhost:5555/callback' }],
    ['another scheme', { redirect_uri: 'https://127.0.0.1:5555/callback' }],
    ['a user name', { redirect_uri: 'http://127.0.0.1@evil.example:5555/callback' }],
    ['a fragment', { redirect_uri: 'http://127.0.0.1:5555/callback#x' }],
    ['another query', { redirect_uri: 'http://127.0.0.1:5555/callback?x=1' }],
    ['a backslash', { redirect_uri: 'http://127.0.0.1:5555\\@evil.example/callback' }],
    ['another case of the path', { redirect_uri: 'http://127.0.0.1:5555/Callback' }],
  ])('with %s goes nowhere', async (_, fields) => {
    const { code_challenge } = createVerifier()
    const given = { client_id: await registered(service), code_challenge, ...fields }
    const { status, headers } = await authorize(service, given)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(headers.get('location')).toBeNull()
  })

  test('of a client elsewhere is not redirected without a person', async () => {
    const redirect_uri = 'https://app.example/callback'
    const client_id = await registered(service, [redirect_uri])
    const { status, headers } = await authorize(service, { client_id, redirect_uri, code_challenge: 'short' })
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test('may name another port of this machine', async () => {
    const { code_challenge } = createVerifier()
    const redirect_uri = callback.replace('5555', '61234')
    const given = { client_id: await registered(service), code_challenge, redirect_uri }
    expect(requestIn(await authorize(service, given))).not.toBe('')
  })

  test('with a parameter twice is refused', async () => {
    const client_id = await registered(service)
    const path = `/authorize?client_id=${client_id}&redirect_uri=${callback}&redirect_uri=https://evil.example`
    expect((await send(service, 'GET', path)).status).toBe(400)
  })
})

describe('a code', () => {
  test.each([
    ['another verifier', { code_verifier: createVerifier().code_verifier }],
    ['no verifier', { code_verifier: undefined }],
    ['another client', { client_id: 'svc_client_other' }],
    ['no client', { client_id: undefined }],
    ['another redirect address', { redirect_uri: 'http://127.0.0.1:5556/callback' }],
    ['another audience', { resource: 'https://other.example/mcp' }],
  ])('with %s gives no token, then or later', async (_, wrong) => {
    const { client_id, code_verifier, code } = await obtainCode(service, ada)
    const right = { client_id, code_verifier, code }
    for (const fields of [{ ...right, ...wrong }, right]) {
      const { status, text } = await exchange(service, fields)
      expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_grant'])
    }
    expect(await agentsOf()).toEqual([])
  })

  test('expires after a minute', async () => {
    const given = await obtainCode(service, ada)
    clock.tick(60_000)
    const { client_id, code_verifier, code } = given
    expect((await exchange(service, { client_id, code_verifier, code })).status).toBe(400)
  })

  test('is exchanged once, and a replay ends what it gave', async () => {
    const { client_id, code_verifier, code } = await obtainCode(service, ada)
    const first = await exchange(service, { client_id, code_verifier, code })
    const token = JSON.parse(first.text).access_token
    expect((await callTools(service, token, listTools)).status).toBe(200)
    expect((await exchange(service, { client_id, code_verifier, code })).status).toBe(400)
    expect((await callTools(service, token, listTools)).status).toBe(401)
  })

  test('gives no second token when it comes ten times at once', async () => {
    const { client_id, code_verifier, code } = await obtainCode(service, ada)
    const all = await Promise.all(
      Array.from({ length: 10 }, () => exchange(service, { client_id, code_verifier, code })),
    )
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await agentsOf()).toEqual([])
  })

  test('of a person who was removed gives no token', async () => {
    const { client_id, code_verifier, code } = await obtainCode(service, ada)
    const body = { org_id: acme.id, user_id: ada.user }
    dataOf(await service.call('POST', '/organization/remove/user', { body }))
    expect((await exchange(service, { client_id, code_verifier, code })).status).toBe(400)
  })

  test.each([
    ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['nonsense', { code: 'nonsense' }, 'invalid_grant'],
    ['the sealed request', {}, 'invalid_grant'],
  ])('request with %s is refused', async (_, fields, error) => {
    const { code_challenge, code_verifier } = createVerifier()
    const client_id = await registered(service)
    const code = requestIn(await authorize(service, { client_id, code_challenge }))
    const { text } = await exchange(service, { client_id, code_verifier, code, ...fields })
    expect(JSON.parse(text).error).toBe(error)
  })
})

test.each([
  ['POST', '/register', 403],
  ['POST', '/token', 400],
  ['GET', '/authorize', 400],
  ['GET', '/.well-known/oauth-protected-resource', 404],
  ['GET', '/.well-known/oauth-protected-resource/mcp', 404],
  ['GET', '/.well-known/oauth-authorization-server', 404],
  ['GET', '/.well-known/openid-configuration', 404],
])(
  'where nobody could sign, %s %s answers an OAuth error that names the bearer',
  async (method, path, status) => {
    const other = await startTestService({ tools: true, publicUrl: 'http://192.0.2.7:8080' })
    const answer = await send(other, method, path)
    await other.close()
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      status,
      {
        error: expect.stringMatching(/^(?:invalid_request|access_denied)$/),
        error_description: expect.stringContaining('Authorization: Bearer'),
      },
    ])
  },
)
