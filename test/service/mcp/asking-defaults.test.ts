import { expect, test } from 'vitest'
import { call, overHttp } from '../../e2e/mcp-client.ts'
import { createPerson, remote } from '../../e2e/person.ts'
import { installHooks, start } from '../started.ts'

installHooks()

test('a call over HTTP without an approver uses the default approver and factors', async () => {
  const service = await start({
    dev: true,
    env: {
      SVC_DEFAULT_MOBILE: '+12025550101',
      SVC_DEFAULT_FACTORS: 'biometric',
      SVC_REQUEST_FROM: 'CI of Acme',
    },
  })
  const http = remote(service.baseUrl, service.operatorKey!)
  const [ada, bob] = [await createPerson(http, 1), await createPerson(http, 2)]
  expect(ada.mobile).toBe('+12025550101')
  const client = await overHttp('legacy', service.mcpUrl)
  const reply = await call(client, 'request_approval_async', { action: 'Deploy' })
  expect(reply.result).toMatchObject({ status: 'pending', approver_mobile: ada.mobile })
  expect(await ada.requests('pending')).toMatchObject([{ requester: 'CI of Acme', factors: ['biometric'] }])
  const named = await call(client, 'request_approval_async', {
    action: 'Deploy',
    approver_mobile: bob.mobile,
  })
  expect(named.result).toMatchObject({ approver_mobile: bob.mobile })
  await client.close()
})

test('without a default a call must name an approver', async () => {
  const service = await start({ env: { SVC_DEFAULT_MOBILE: '' } })
  const client = await overHttp('legacy', service.mcpUrl)
  const { isError, text } = await call(client, 'request_approval_async', { action: 'Deploy' })
  expect([isError, text]).toEqual([true, expect.stringContaining('pass it as approver_mobile')])
  await client.close()
})

test.each([
  [{ SVC_DEFAULT_MOBILE: '2025550101' }, 'SVC_DEFAULT_MOBILE must be a phone number in E.164'],
  [
    { SVC_DEFAULT_FACTORS: 'biometric,retina' },
    'SVC_DEFAULT_FACTORS contains "retina", which is not a factor',
  ],
  [{ SVC_REQUEST_FROM: 'a\nb' }, 'SVC_REQUEST_FROM must be one line'],
])('a start with %j is refused', async (env, message) => {
  await expect(start({ env })).rejects.toMatchObject({
    exit: 'usage',
    message: expect.stringContaining(message),
  })
})
