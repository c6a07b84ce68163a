import { describe, expect, test } from 'vitest'
import { createAuthenticator } from '../../../src/service/keys/authenticator.ts'
import { createPhone, fromPhone, readInbox } from '../page/phone.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import { call } from './http-tools.ts'
import { callback, callTools, connect, listTools, obtainCode, origin, sendForm } from './oauth-client.ts'
import { acme, ada, agentsOf, clock, service, installHooks } from './oauth-stage.ts'

installHooks()

describe('an agent that a person connected', () => {
  test('can ask, has the person as its default approver, and is shown with its name', async () => {
    const token = await connect(service, ada)
    const asked = await callTools(service, token, call('request_approval_async', { action: 'Deploy' }))
    expect(asked.text).toContain('"status\\":\\"pending')
    const { requests } = await readInbox(service, ada)
    expect(requests).toMatchObject([{ action: 'Deploy', verified_as: 'agent "Coder"' }])
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
    const names = (await agentsOf()).map(({ name }) => name)
    expect(names).toEqual(['Coder', 'Coder 2', 'Coder 3'])
    expect((await sendForm(service, '/revoke', { token: tokens[0]! })).status).toBe(200)
    const { agents } = dataOf(await fromPhone(service, 'GET', 'agents', { cookie: ada.cookie }))
    const path = `agents/${agents[0].id}/revocation`
    dataOf(await fromPhone(service, 'POST', path, { cookie: ada.cookie }))
    await service.call('DELETE', `/svc/v1/keys/${agents[1].id}`, { key: acme.key })
    for (const token of tokens) expect((await callTools(service, token, listTools)).status).toBe(401)
    expect(await agentsOf()).toEqual([])
  })

  test('is not revoked by another person or another organization', async () => {
    const token = await connect(service, ada)
    const [{ id } = { id: '' }] = await agentsOf()
    const eve = await createPhone(service, acme.id, 2)
    const foreign = await createTenant(service, 'globex')
    expect((await fromPhone(service, 'POST', `agents/${id}/revocation`, { cookie: eve.cookie })).status).toBe(
      404,
    )
    expect((await service.call('DELETE', `/svc/v1/keys/${id}`, { key: foreign.key })).status).toBe(404)
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
