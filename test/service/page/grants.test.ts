import { expect, test } from 'vitest'
import { acme, ada, clock, service } from '../acme-with-ada.ts'
import type { Approver } from '../approver.ts'
import { asked, asker, consume, grace, granted, grants, installHooks, pod } from '../approvals/grant-stage.ts'
import { cookieFor } from '../devices/moves.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { fromPhone } from './phone.ts'

installHooks()

const history = async ({ key }: Approver, query = '') =>
  dataOf(await fromPhone(service, 'GET', `decisions${query}`, { cookie: await cookieFor(service, key) }))
const end = async (request_id: string, { key }: Approver) =>
  fromPhone(service, 'POST', `grants/${request_id}/end`, { cookie: await cookieFor(service, key) })

test('the first page of the own decisions has what the person allowed again, until it ends', async () => {
  expect((await history(ada)).grants).toEqual([])
  const { request_id, granted_until } = await granted()
  await asked(pod('web-2'))
  const { decisions, grants: own } = await history(ada)
  expect(own).toEqual([
    {
      request_id,
      credential: 'agent',
      what: 'Run kubectl delete pod web-1',
      varying: ['web-1'],
      used: 1,
      uses: 2,
      ends_at: granted_until,
    },
  ])
  expect((await history(ada, `?before=${decisions[0].request_id}`)).grants).toEqual([])
  expect((await history(grace)).grants).toEqual([])
  clock.tick(600_001)
  expect((await history(ada)).grants).toEqual([])
})

test('whoever granted it ends it, with its approvals that were not used yet', async () => {
  const { request_id } = await granted()
  const open = await asked(pod('web-2'))
  expect((await end(request_id, ada)).status).toBe(200)
  expect((await history(ada)).grants).toEqual([])
  expect(refusal(await consume(open))[1]).toBe('not_approved')
  expect((await asked()).status).toBe('pending')
  expect(refusal(await end(request_id, ada))).toEqual([404, 'not_found', []])
  const audited = ['endOwnGrant', `approval:${request_id}`, ['granted_until']]
  expect(await auditOf(service, acme.id)).toContainEqual(audited)
})

test('nobody else can end it there, nor end another grant of that person', async () => {
  const { request_id } = await granted()
  expect(refusal(await end(request_id, grace))).toEqual([404, 'not_found', []])
  expect(refusal(await end('apr_other', ada))).toEqual([404, 'not_found', []])
  expect(await grants(asker.key)).toMatchObject([{ request_id }])
})

test('a use says with which request it was allowed, to whoever granted it', async () => {
  const { request_id: by } = await granted()
  const { request_id } = await asked(pod('web-2'))
  const cookie = await cookieFor(service, ada.key)
  const grant = { request_id: by, use: 1, uses: 2 }
  for (const path of ['decisions', 'requests'])
    expect(dataOf(await fromPhone(service, 'GET', `${path}/${request_id}`, { cookie }))).toMatchObject({
      ended_by: 'grant',
      grant,
    })
  expect(dataOf(await fromPhone(service, 'GET', `decisions/${by}`, { cookie }))).not.toHaveProperty('grant')
})
