import { describe, expect, onTestFinished, test } from 'vitest'
import { startExactHosted } from '../exact-hosted.ts'
import { standing } from '../spec/law.ts'
import { call, overStdio } from './mcp-client.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { svcHere } from './prepare.ts'

const ask = { action: 'Deploy', approver_mobile: '+12025550101' }

/** `svc mcp` for another service that answers only what the specification shows. */
const begin = async (env: (urls: { mcpUrl: string }) => Record<string, string>) => {
  const folder = temporaryFolder()
  const service = await startExactHosted({ routes: standing })
  const where = { SVC_CONFIG_DIR: folder.path, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'key' }
  const client = await overStdio('legacy', { ...where, ...env(service) })
  onTestFinished(async () => {
    await client.close()
    await service.close()
    folder.remove()
  })
  return { client, service }
}

describe('svc mcp for another service', () => {
  test.each(['request_approval', 'request_approval_async'])(
    'does not use its REST API for approvals: %s',
    async (tool) => {
      const { client, service } = await begin(() => ({}))
      const { isError, text, result } = await call(client, tool, ask)
      expect([isError, result]).toEqual([true, undefined])
      expect(text).toMatch(/has no approvals.*This is not an approval\.$/)
      expect(service.rest()).toEqual([])
    },
  )

  test('passes on the results of its tools, and rejects results that it cannot read', async () => {
    const { client, service } = await begin(({ mcpUrl }) => ({ SVC_MCP_URL: mcpUrl }))
    service.tools.request_approval = { status: 'approved', attestation: {} }
    expect((await call(client, 'request_approval', ask)).result).toMatchObject({ status: 'approved' })
    service.tools.request_approval = 'Approved!'
    const unread = await call(client, 'request_approval', ask)
    expect([unread.isError, unread.text]).toEqual([
      true,
      expect.stringMatching(/It is not known whether the request was approved\. This is not an approval\.$/),
    ])
  })

  test('says about the tool server of its profile, too, that nothing proves an approval', async () => {
    const folder = temporaryFolder()
    const service = await startExactHosted({ routes: standing })
    onTestFinished(async () => {
      await service.close()
      folder.remove()
    })
    const env = { SVC_CONFIG_DIR: folder.path }
    await svcHere(`profile create default --base-url ${service.baseUrl}`, env)
    await svcHere(`profile set default mcp_url=${service.mcpUrl}`, env)
    const client = await overStdio('legacy', { ...env, SVC_API_KEY: 'key' })
    onTestFinished(() => client.close())
    service.tools.request_approval = { status: 'approved', attestation: {} }
    const { result } = await call(client, 'request_approval', ask)
    expect(result).toMatchObject({
      status: 'approved',
      notice: expect.stringMatching(/^Only the tool server at .* says so: no receipt/),
    })
    service.tools.request_approval = { status: 'approved', bound_to_action: false }
    expect((await call(client, 'request_approval', ask)).result).toMatchObject({ bound_to_action: false })
  })
})
