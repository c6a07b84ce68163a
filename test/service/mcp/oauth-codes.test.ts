import { describe, expect, test } from 'vitest'
import { dataOf } from '../fixtures.ts'
import {
  authorize,
  callTools,
  createVerifier,
  exchange,
  listTools,
  obtainCode,
  registered,
  requestIn,
} from './oauth-client.ts'
import { acme, ada, agentsOf, clock, service, installHooks } from './oauth-stage.ts'

installHooks()

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

  test('of a device that was removed gives no token', async () => {
    const { client_id, code_verifier, code } = await obtainCode(service, ada)
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
    expect((await exchange(service, { client_id, code_verifier, code })).status).toBe(400)
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
