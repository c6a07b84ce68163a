import { expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { createPhone, readInbox } from '../page/phone.ts'

installHooks()

test('a person who is created again is not asked what the deleted one was', async () => {
  const grace = await createPhone(service, acme.id, 2)
  const body = { action: 'Deploy 4.2', approvers: [`${ada.mobile},${grace.mobile}`] }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { key: acme.key, body }))
  expect((await readInbox(service, grace)).requests).toHaveLength(1)
  dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${grace.user}`))
  const again = await createPhone(service, acme.id, 2)
  expect(again.user).toBe(grace.user)
  const ceremony = `/svc/v1/approvals/${request_id}/ceremony?credential=${again.key.credential_id}`
  expect((await service.call('GET', ceremony)).status).toBe(404)
  dataOf(await decide(service, request_id, ada.key))
  expect(dataOf(await ask(service, ada, {}, acme.key)).status).toBe('pending')
})

test('an approval whose receipts went with a deleted person is not used, and says so', async () => {
  const grace = await createPhone(service, acme.id, 2)
  const body = { action: 'Deploy 4.2', approvers: [`${ada.mobile},${grace.mobile}`] }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { key: acme.key, body }))
  const { subject } = dataOf(await decide(service, request_id, ada.key))
  dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${grace.user}`))
  const path = `/svc/v1/approvals/${request_id}/consume`
  const answer = await service.call('POST', path, { key: acme.key, body: { digest: subject.digest } })
  expect(refusal(answer)).toEqual([409, 'not_approved', []])
  expect(answer.body.message).toBe(
    'The receipts of this approval were erased, with a person whom they named or after their time',
  )
})
