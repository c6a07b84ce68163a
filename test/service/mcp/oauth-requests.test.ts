import { describe, expect, test } from 'vitest'
import { authorize, callback, createVerifier, origin, registered, requestIn, send } from './oauth-client.ts'
import { service, installHooks } from './oauth-stage.ts'

installHooks()

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

  // PostgreSQL fails on it.
  test('with a zero byte is refused', async () => {
    const path = `/authorize?client_id=%00&redirect_uri=${callback}`
    expect((await send(service, 'GET', path)).status).toBe(400)
  })

  test('with a parameter twice is refused', async () => {
    const client_id = await registered(service)
    const path = `/authorize?client_id=${client_id}&redirect_uri=${callback}&redirect_uri=https://evil.example`
    expect((await send(service, 'GET', path)).status).toBe(400)
  })
})
