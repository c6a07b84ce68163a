import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Approver, createApprover } from '../approver.ts'
import { createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { callTools, connect, listTools } from '../mcp/oauth-client.ts'
import { createPhone } from '../page/phone.ts'
import { createRule } from '../rule-fixture.ts'

let service: TestService
let acme: Awaited<ReturnType<typeof createTenant>>
let ada: Approver
beforeEach(async () => {
  service = await startTestService({ dev: true })
  acme = await createTenant(service, 'acme')
  ada = await createApprover(service, acme.id, 1)
})
afterEach(() => service.close())

const changed = [409, 'store_changed', []]

describe('a number that another program has changed', () => {
  beforeEach(() => service.runSql(`UPDATE people SET mobile = '+12025550177' WHERE id = ${ada.id}`))

  test('makes nobody a member under another number', async () => {
    const body = {
      first_name: 'Nina',
      last_name: 'X',
      email: 'nina@acme.example',
      mobile: '2025550177',
      country_code: '+1',
    }
    const answer = await service.call('POST', `/organization/${acme.id}/create/user`, { body })
    expect(refusal(answer)).toEqual(changed)
  })

  test('is in no list with the id of its person', async () => {
    for (const path of ['users', 'users?mobile=%2B12025550177'])
      expect(refusal(await service.call('GET', `/organization/${acme.id}/${path}`))).toEqual(changed)
  })

  test('is shown in no part', async () => {
    await service.runSql(`UPDATE people SET mobile = '${ada.mobile}', national = '1' WHERE id = ${ada.id}`)
    expect(refusal(await service.call('GET', `/organization/${acme.id}/users`))).toEqual(changed)
  })

  test('leads to no account of an app', async () => {
    const answer = await service.call('POST', '/getuser', { body: { mobile: '+12025550177' } })
    expect(refusal(answer)).toEqual(changed)
  })

  test('is shown to nobody who decides', async () => {
    const match = { type: 'request' as const, operation: ['user delete'] }
    await createRule(service, acme.id, { members: [(await createApprover(service, acme.id, 2)).id], match })
    const answer = await service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.id}`, {
      key: acme.key,
    })
    expect(refusal(answer)).toEqual(changed)
  })
})

test('no agent asks somebody else instead of its owner', async () => {
  const agent = await connect(service, await createPhone(service, acme.id, 2))
  expect((await callTools(service, agent, listTools)).status).toBe(200)
  service.runSql("UPDATE people SET mobile = '+12025550177' WHERE mobile LIKE '%0102'")
  await createTenant(service, 'globex')
  expect((await callTools(service, agent, listTools)).status).toBe(409)
})

test('no organization answers to the slug of another', async () => {
  await createTenant(service, 'globex')
  for (const [slug, name] of [
    ['swap', 'acme'],
    ['acme', 'globex'],
    ['globex', 'swap'],
  ])
    await service.runSql(`UPDATE organizations SET slug = '${slug}' WHERE slug = '${name}'`)
  expect(refusal(await service.call('GET', '/organization/acme'))).toEqual([409, 'organization_altered', []])
  expect((await service.call('GET', `/organization/${acme.id}`)).status).toBe(200)
})

test('a webhook that another program has changed is listed, sends nothing and can be deleted', async () => {
  const body = { url: 'https://hooks.example/x', org_id: acme.id, types: ['approval'] }
  const { webhook_id } = dataOf(await service.call('POST', '/svc/v1/webhooks', { body }))
  await service.runSql("UPDATE webhooks SET wrapped = 'garbage'")
  const [listed] = dataOf(await service.call('GET', `/svc/v1/webhooks?org_id=${acme.id}`))
  expect(listed).toMatchObject({ webhook_id, url: 'changed by another program', secrets: 0 })
  expect(refusal(await service.call('POST', `/svc/v1/webhooks/${webhook_id}/rotate`, { body: {} }))).toEqual(
    changed,
  )
  dataOf(await service.call('DELETE', `/svc/v1/webhooks/${webhook_id}`))
})
