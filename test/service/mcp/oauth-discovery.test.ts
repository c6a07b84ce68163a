import { describe, expect, test } from 'vitest'
import { startTestService } from '../harness.ts'
import { callTools, listTools, origin, send } from './oauth-client.ts'
import { service, installHooks } from './oauth-stage.ts'

installHooks()

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
      authorization_response_iss_parameter_supported: true,
    })
  })

  test('the resource has the name by which a client on this machine reached it', async () => {
    const path = 'http://localhost:8080/.well-known/oauth-protected-resource'
    const response = await service.app.request(path, { headers: { host: 'localhost:8080' } })
    expect((await response.json()) as object).toMatchObject({ resource: 'http://localhost:8080/mcp' })
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
    const other = await startTestService({ publicUrl: 'http://192.0.2.7:8080' })
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
