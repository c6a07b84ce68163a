import { describe, expect, test } from 'vitest'
import {
  behaves,
  config,
  newPerson,
  guarded,
  installHooks,
  key,
  service,
  token,
  toolsUrl,
} from './mcp-behaviour.ts'
import { call, overStdio } from './mcp-client.ts'

installHooks()

const env = () => ({ ...config, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key })

describe('svc mcp over REST', () => {
  behaves((mode) => overStdio(mode, { ...env(), SVC_REQUEST_FROM: 'CI of acme' }))

  test('uses the default approver, the default factors and the configured requester', async () => {
    const ada = await newPerson()
    const client = await overStdio('legacy', {
      ...env(),
      SVC_DEFAULT_MOBILE: ada.mobile,
      SVC_DEFAULT_FACTORS: 'biometric',
      SVC_REQUEST_FROM: 'CI of acme',
    })
    const { result } = await call(client, 'request_approval_async', { action: 'Deploy' })
    expect(result.approver_mobile).toBe(ada.mobile)
    expect(await ada.requests('pending')).toMatchObject([
      { requester: 'CI of acme', factors: ['biometric'], request_id: result.request_id },
    ])
    await ada.answer({ decision: 'deny' })
    await client.close()
  })
})

describe('svc mcp with SVC_ORG', () => {
  test('requests approvals in that organization only, by ID or slug', async () => {
    const [ada, bob] = [await newPerson(), await newPerson()]
    const ask = { action: 'Deploy', approver_mobile: ada.mobile }
    const elsewhere = await overStdio('legacy', { ...env(), SVC_ORG: String(bob.org.id) })
    expect((await call(elsewhere, 'request_approval_async', ask)).isError).toBe(true)
    const there = await overStdio('legacy', { ...env(), SVC_ORG: ada.org.slug })
    expect((await call(there, 'request_approval_async', ask)).result.status).toBe('pending')
    await Promise.all([elsewhere.close(), there.close()])
  })
})

describe('svc mcp for another tool server', () => {
  behaves((mode) => overStdio(mode, { ...config, SVC_MCP_URL: toolsUrl() }))

  test('shows the approver the name of the MCP client', async () => {
    const ada = await newPerson()
    const client = await overStdio('legacy', { ...config, SVC_MCP_URL: toolsUrl() })
    await call(client, 'request_approval_async', { action: 'Deploy', approver_mobile: ada.mobile })
    expect(await ada.requests('pending')).toMatchObject([
      { requester: 'robot', verified_as: 'unauthenticated local program' },
    ])
    await ada.answer({ decision: 'deny' })
    await client.close()
  })

  test('sends the bearer, and does not connect with a wrong one', async () => {
    const url = toolsUrl(guarded)
    const right = await overStdio('legacy', { ...config, SVC_MCP_URL: url, MCP_AUTH_TOKEN: token })
    expect((await call(right, 'check_status', { request_id: 'x' })).text).toContain('unknown request_id')
    await right.close()
    const wrong = overStdio('legacy', { ...config, SVC_MCP_URL: url, MCP_AUTH_TOKEN: 'not-it' })
    await expect(wrong).rejects.toThrow('Connection closed')
  })
})

describe('svc mcp without configuration', () => {
  test('is a demo that says so and never approves', async () => {
    const client = await overStdio('legacy', config)
    const ask = { action: 'Deploy', approver_mobile: '+12025550101' }
    const reply = await call(client, 'request_approval_async', ask)
    expect(reply.result).toMatchObject({ status: 'pending', notice: expect.stringMatching(/demo/) })
    const waited = await call(client, 'request_approval', { ...ask, action: 'Wait', timeout_s: 1 })
    expect(waited.result).toMatchObject({ status: 'expired', bound_to_action: false })
    await client.close()
  })
})
