import { expect, test } from 'vitest'
import { decide } from '../approver.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import {
  acme,
  ada,
  alan,
  grace,
  group,
  installHooks,
  request,
  requested,
  service,
  stateOf,
} from './several-stage.ts'

installHooks()

test.each([
  ['a group', () => '@sre'],
  ['those named', () => [ada, grace, alan].map(({ mobile }) => mobile).join(',')],
])(
  'no key chooses who of %s decides: whoever it asked too often is asked, and not notified',
  async (_, line) => {
    await group('sre', ada, grace, alan)
    for (const { mobile } of [ada, grace]) for (let n = 0; n < 3; n++) await requested(mobile)
    service.notified.splice(0)
    const { request_id, lines } = dataOf(await request([line()]))
    const everybody = [ada, grace, alan].map(({ id }) => id)
    expect(lines[0].people.map(({ user_id }: { user_id: string }) => user_id)).toEqual(everybody)
    expect(service.notified.map(({ user_id }) => String(user_id))).toEqual([alan.id])
    dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
    expect((await stateOf(request_id)).status).toBe('denied')
    expect(refusal(await request(['@sre:2']))).toEqual([429, 'too_many_pending', []])
  },
)

test('a request counts once against the limits of each person, however many it asks', async () => {
  for (let n = 0; n < 3; n++) await requested(ada.mobile, grace.mobile)
  expect(refusal(await request([ada.mobile]))).toEqual([429, 'too_many_pending', []])
  expect((await request([`${ada.mobile},${alan.mobile}`])).status).toBe(200)
  expect((await auditOf(service, acme.id)).filter(([action]) => action === 'createApproval')).toHaveLength(4)
})

test('whoever must wait for a limit is told how long, also if others cannot be asked at all', async () => {
  await group('sre', ada, grace)
  for (let n = 0; n < 3; n++) await requested(grace.mobile)
  dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
  const answer = await request(['@sre'])
  expect(refusal(answer)).toEqual([429, 'too_many_pending', []])
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  // Waiting does not help if they are too few anyway.
  expect(refusal(await request(['@sre:2']))).toEqual([409, 'not_enough_approvers', []])
})
