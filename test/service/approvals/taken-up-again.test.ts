import { expect, test } from 'vitest'
import { sweep } from '../../../src/service/approvals/expiry.ts'
import { decide, post, signed } from '../approver.ts'
import { hour } from '../clock.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { withdraw } from './requested.ts'
import {
  acme,
  ada,
  approve,
  asks,
  clock,
  grace,
  group,
  installHooks,
  request,
  requested,
  service,
  stateOf,
} from './several-stage.ts'

// Another program writes a request that ended as if it had not.

installHooks()

const takeUp = (id: string) =>
  service.runSql(
    `UPDATE approvals SET status = 'pending', detail = NULL, note = NULL, ruling = NULL, attestation = NULL,
     decided_at = NULL, decided_by = NULL, ended_at = NULL WHERE request_id = ?`,
    [id],
  )
/** Grace signs before the request ends, and what she signed arrives after it was taken up again. */
const graceSigns = async (id: string) => {
  const response = await signed(service, id, 'approve', grace.key)
  return () => post(service, id, { decision: 'approve', response })
}
const notAuthentic = [403, 'request_not_authentic', []]
const deny = (id: string, more: object = {}) =>
  decide(service, id, ada.key, { decision: 'deny', ...more }).then(dataOf)

test.each<[string, (id: string) => Promise<unknown>]>([
  ['was denied', deny],
  ['was denied as unexpected', (id) => deny(id, { not_me: true })],
  ['was withdrawn', async (id) => dataOf(await withdraw(id, asks))],
])('a request that %s is not approved any more', async (_, end) => {
  const id = await requested(`${ada.mobile},${grace.mobile}`)
  const arrive = await graceSigns(id)
  await end(id)
  await takeUp(id)
  expect(refusal(await arrive())).toEqual(notAuthentic)
  expect((await stateOf(id)).status).not.toBe('approved')
})

test('a request that ended with the report of another one is not approved any more', async () => {
  const [first, second] = [
    await requested(`${ada.mobile},${grace.mobile}`),
    await requested(`${grace.mobile},${ada.mobile}`),
  ]
  const arrive = await graceSigns(second)
  await deny(first, { not_me: true })
  expect((await stateOf(second)).status).toBe('expired')
  await takeUp(second)
  expect(refusal(await arrive())).toEqual(notAuthentic)
})

test('a request that was not decided in time gets no more time', async () => {
  const id = await requested(`${ada.mobile},${grace.mobile}`)
  const arrive = await graceSigns(id)
  const { expires_at } = await stateOf(id)
  clock.tick(hour)
  await sweep(service.service)
  await takeUp(id)
  clock.tick(Date.parse(expires_at) - 1000 - clock.now().getTime())
  expect(refusal(await arrive())).toEqual(notAuthentic)
})

test('a yes of a device that was removed does not count because another program wrote that it is active', async () => {
  const id = await requested(ada.mobile, grace.mobile)
  dataOf(await approve(ada, id))
  dataOf(
    await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`, { key: acme.key }),
  )
  await service.runSql("UPDATE devices SET state = 'active'")
  expect(dataOf(await approve(grace, id)).status).not.toBe('approved')
})

test('a denial and a report are kept while another program has changed the groups, and say what has not ended', async () => {
  await group('ops', ada, grace)
  const id = await requested(ada.mobile)
  const [{ created_at }] = (await service.runSql('SELECT created_at FROM groups')) as [{ created_at: string }]
  await service.runSql("UPDATE groups SET created_at = 'x'")
  const denied = await decide(service, id, ada.key, { decision: 'deny', not_me: true })
  expect(refusal(denied)).toEqual([409, 'grants_not_ended', []])
  expect((await stateOf(id)).status).toBe('denied')
  await service.runSql('UPDATE groups SET created_at = ?', [created_at])
  expect(refusal(await request([ada.mobile]))[1]).toBe('muted')
})
