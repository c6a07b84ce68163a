import { beforeEach, expect, test } from 'vitest'
import { createRule } from '../rule-fixture.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { dataOf, fence, refusal } from '../fixtures.ts'

// A rule that holds a call of the service and requires a reason.

installHooks()

let rules: string
let rule: string
let site: number
const reason = { prompt: 'Incident', pattern: 'INC-*', example: 'INC-77' }
const at = () => `/organization/${acme.id}/delete/geo-fence/${site}`
const remove = (header?: string) =>
  service.call('DELETE', at(), {
    key: rules,
    headers: header === undefined ? {} : { 'x-svc-reason': header },
  })
const pending = async () => dataOf(await service.call('GET', '/svc/v1/approvals?status=pending'))

beforeEach(async () => {
  const body = { name: 'rules', org_id: acme.id, scopes: ['rules'] }
  rules = dataOf(await service.call('POST', '/svc/v1/keys', { body })).key
  const path = `/organization/${acme.id}/create/geo-fence`
  site = dataOf(await service.call('POST', path, { body: { ...fence, is_active: 0 } })).id
  const match = { type: 'request', operation: ['geofence delete'] }
  rule = (await createRule(service, acme.id, { members: [ada.id], match, reason })).rule
})

test('a call without a reason is refused with the words of the rule, and asks nobody', async () => {
  const { status, body } = await remove()
  expect([status, body.data]).toMatchObject([
    422,
    {
      code: 'invalid_field',
      issues: [
        {
          field: 'reason',
          message: `is required by the rule ${rule}: Incident, and must match INC-*`,
        },
      ],
      hint: `Say why: --reason 'INC-77'; over HTTP in the header x-svc-reason`,
      reason: { rule, ...reason },
    },
  ])
  expect(await pending()).toEqual([])
})

test.each([
  ['another form', 'restart', /^must match INC-\*.*not "restart"/],
  ['too long', 'INC-'.padEnd(2001, 'x'), /at most 2000 characters/],
  ['an invisible character', 'INC-%E2%80%AE7', /invisible/],
  ['no text', 'INC-%zz', /must be percent-encoded in x-svc-reason/],
])('a reason of %s asks nobody', async (_, header, message) => {
  const answer = await remove(header)
  expect(refusal(answer)).toEqual([422, 'invalid_field', ['reason']])
  expect(answer.body.data.issues[0]).toMatchObject({
    field: 'reason',
    message: expect.stringMatching(message),
  })
  expect(await pending()).toEqual([])
})

test('a reason that fits is what the approver reads, and says which rule asks', async () => {
  const answer = await remove(encodeURIComponent('INC-7: Büro zu'))
  expect(refusal(answer)).toEqual([403, 'approval_required', []])
  expect(await pending()).toMatchObject([
    { reason: 'INC-7: Büro zu', rules: [rule], lines: [{ rules: [rule], people: [{ user_id: ada.id }] }] },
  ])
})

test('a reason changes nothing of a call that no rule holds', async () => {
  const path = `/organization/${acme.id}/create/geo-fence`
  const headers = { 'x-svc-reason': '%zz' }
  const { status } = await service.call('POST', path, {
    body: { ...fence, name: 'Other', is_active: 0 },
    headers,
  })
  expect(status).toBe(200)
})
