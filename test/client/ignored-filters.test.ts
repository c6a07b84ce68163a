import { describe, expect, test } from 'vitest'
import { approval } from '../../src/contract/approval.ts'
import { audit } from '../../src/contract/audit.ts'
import { events } from '../../src/contract/event.ts'
import { account } from '../../src/contract/account.ts'
import { outbox } from '../../src/contract/outbox.ts'
import { user } from '../../src/contract/user.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { json } from '../fake-hosted.ts'
import { failure, withHosted } from './hosted.ts'

const answer = (data: unknown) => json(200, { status: 'success', message: 'OK', data })
const ada = { id: '7', mobile_e164: '+12025550101', email: 'Ada@Acme.example', state: 'active', org_id: 1 }
const bob = {
  id: '9',
  country_code: '+1',
  mobile: '2025550109',
  email: 'bob@acme.example',
  state: 'rejected',
}
const apr = { request_id: 'apr_1', status: 'pending', requested_at: '2026-01-02T00:00:00Z' }

const twoPeople = [{ people: ['••••••••0101', '••••••••0102'].map((mobile) => ({ mobile })) }, null]

describe('an answer that does not match the request', () => {
  test.each<[string, Operation, Record<string, unknown>, unknown]>([
    ['mobile', user.listUsers, { org_id: 1, mobile: '+12025550101' }, [ada, bob]],
    ['email', user.listUsers, { org_id: 1, email: 'ada@acme.example' }, [bob]],
    ['state', user.listUsers, { org_id: 1, state: 'active' }, [ada, bob]],
    ['org_id', user.listUsers, { org_id: 2 }, [ada]],
    ['mobile', user.listUsers, { org_id: 1, mobile: '+12025550101' }, [{ userId: 'a' }, { userId: 'b' }]],
    ['mobile', user.getUserDetails, { org_id: 1, mobile: '+12025550101' }, bob],
    ['email', user.getUserDetails, { org_id: 1, email: 'ada@acme.example' }, bob],
    ['user_id', user.getUserDetails, { org_id: 1, user_id: '7' }, bob],
    ['userId', user.getUser, { orgId: 1, userId: '7' }, bob],
    ['status', approval.listApprovals, { status: 'approved' }, [apr]],
    ['since', approval.listApprovals, { since: '2026-01-03T00:00:00Z' }, [apr]],
    ['until', approval.listApprovals, { until: '2026-01-01T00:00:00Z' }, [apr]],
    [
      'approver_mobile',
      approval.listApprovals,
      { approver_mobile: '+12025550103' },
      [{ ...apr, approver_mobile: '+12025550101', lines: twoPeople }],
    ],
    ['request_id', approval.getApproval, { request_id: 'apr_2' }, apr],
    ['channel', outbox.listOutbox, { channel: 'sms' }, [{ message_id: 'm', channel: 'email' }]],
    ['actor', audit.listAudit, { actor: 'ci' }, [{ seq: 1, actor: 'cid (key 3)' }]],
    ['action', audit.listAudit, { action: 'createUser' }, [{ seq: 1, action: 'deleteUser' }]],
    ['imei', account.checkImei, { imei: '35-209900-176148-1' }, { imei: '490154203237518' }],
    ['type', events.listEvents, { type: 'key' }, { events: [{ type: 'webhook.created' }], cursor: 'c' }],
  ])('is refused: %s', async (field, operation, input, data) => {
    const { client, service } = await withHosted()
    service.always(answer(data))
    const error = await failure(client.call(operation, input))
    expect([error.code, error.exit, error.issues?.[0]?.field]).toEqual([
      field === 'request_id' ? 'unexpected_answer' : 'filter_ignored',
      'failed',
      field === 'request_id' ? undefined : field,
    ])
  })

  test('is refused before a page of it is used', async () => {
    const { client, service } = await withHosted()
    service.always(answer([ada, bob]))
    const pages = client.pages(user.listUsers, { org_id: 1, state: 'active', limit: 2 })
    expect((await failure(pages.next())).code).toBe('filter_ignored')
  })
})

test.each<[string, Operation, Record<string, unknown>, unknown]>([
  ['another spelling', user.listUsers, { org_id: 1, mobile: '+1 (202) 555-0101' }, [ada]],
  ['an address in other letters', user.listUsers, { org_id: 1, email: 'ada@acme.example' }, [ada]],
  ['two parts', user.listUsers, { org_id: 1, mobile: '+12025550109' }, [bob]],
  ['a trunk zero', user.listUsers, { org_id: 1, mobile: '+4901512345678' }, [{ mobile: '+491512345678' }]],
  ['one row without a number', user.listUsers, { org_id: 1, mobile: '+12025550101' }, [{ userId: 'a' }]],
  ['rows without a state', user.listUsers, { org_id: 1, state: 'active' }, [{ id: '1' }, { id: '2' }]],
  ['ids of another form', user.listUsers, { org_id: 1 }, [{ org_id: 'org_9f' }]],
  ['an id as a number', user.getUser, { orgId: 1, userId: '7' }, { id: 7, mobile: '1' }],
  ['the name of a key', audit.listAudit, { actor: 'ci' }, [{ actor: 'ci (key 3)' }]],
  [
    'a group of events',
    events.listEvents,
    { type: 'key' },
    { events: [{ type: 'key.created' }], cursor: 'c' },
  ],
  [
    'an IMEI without separators',
    account.checkImei,
    { imei: '35-209900-176148-1' },
    { imei: '352099001761481' },
  ],
  [
    'a request of several people, of whom it shows the first',
    approval.listApprovals,
    { approver_mobile: '+12025550102' },
    [{ ...apr, approver_mobile: '+12025550101', lines: twoPeople }],
  ],
  ['no data', user.getUserDetails, { org_id: 1, mobile: '+12025550101' }, undefined],
])('an answer with %s matches', async (_, operation, input, data) => {
  const { client, service } = await withHosted()
  service.always(answer(data))
  expect((await client.call(operation, input)).envelope.data).toEqual(data)
})
