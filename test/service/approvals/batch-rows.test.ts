import { describe, expect, test } from 'vitest'
import { acme, ada, clock, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { day, hour } from '../clock.ts'
import { auditOf, contentsOf, dataOf, fence, refusal, slot } from '../fixtures.ts'
import { approved, ask, create, installHooks, people, type Row, site, user } from './batch-stage.ts'

installHooks()

describe('a row of a list', () => {
  test('permits each row once, and names it in the audit', async () => {
    const rows = [user(1), user(2)]
    const id = await approved(rows)
    expect((await create(rows[1]!, `${id}:1`)).status).toBe(200)
    const again = await create(rows[1]!, `${id}:1`)
    expect([again.status, again.body.data.code]).toEqual([409, 'user_exists'])
    expect((await create(rows[0]!, `${id}:0`)).status).toBe(200)
    const audit = await auditOf(service, acme.id)
    expect(audit).toContainEqual([
      'createUser',
      expect.stringMatching(/^user:/),
      expect.arrayContaining([`approval:${id}:1`]),
    ])
    // With its last row, the approval is used.
    expect(dataOf(await service.call('GET', `/svc/v1/approvals/${id}`)).used_at).not.toBeNull()
    expect(audit).toContainEqual(['createUser', `approval:${id}`, ['used_at', `approval:${id}:0`]])
  })

  test.each([
    ['another row', (id: string) => create(user(2), `${id}:0`), 'other_subject'],
    ['a row that the list lacks', (id: string) => create(user(1), `${id}:9`), 'not_found'],
    ['a change that the list lacks', (id: string) => create(user(7), `${id}:0`), 'other_subject'],
    ['the whole approval', (id: string) => create(user(1), id), 'other_subject'],
    ['another key', (id: string) => create(user(1), `${id}:0`, acme.key), 'unknown_approval'],
    ['an approval that does not exist', () => create(user(1), 'apr_x:0'), 'unknown_approval'],
  ])('refuses %s, and changes nothing', async (_, send, code) => {
    const id = await approved([user(1), user(2)])
    const before = await contentsOf(service)
    expect(refusal(await send(id))[1]).toBe(code)
    expect(await contentsOf(service)).toEqual(before)
  })

  test.each([
    ['one row of a list', [1, 2], ':1'],
    ['a change that was asked alone', [2], ''],
  ])('permits nothing after its time, also after a clock is set back: %s', async (_, users, row) => {
    const rows = users.map((n) => user(n))
    const id = await approved(rows)
    // The service remembers what it proved for a list.
    if (row !== '') dataOf(await create(rows[0]!, `${id}:0`))
    clock.tick(day)
    expect(refusal(await create(user(2), id + row))).toEqual([410, 'use_by_passed', []])
    clock.tick(-day)
    expect(refusal(await create(user(2), id + row))).toEqual([410, 'use_by_passed', []])
    expect(dataOf(await ask(rows.slice(-1))).request_id).not.toBe(id)
  })

  test('permits nothing once the device that approved is revoked', async () => {
    const id = await approved([user(1), user(2)])
    dataOf(await create(user(1), `${id}:0`))
    dataOf(await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`))
    expect(refusal(await create(user(2), `${id}:1`))).toEqual([409, 'approver_left', []])
  })

  test('lets only one of several that use a row at once do it', async () => {
    const rows: Row[] = [
      { operation: 'createGeofence', input: { org_id: acme.id, ...fence, name: 'Other', is_active: 0 } },
      { operation: 'updateGeofence', input: { org_id: acme.id, id: site, radius: 300 } },
    ]
    const id = await approved(rows)
    const send = () =>
      service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
        body: { ...fence, name: 'Other', is_active: 0 },
        key: people,
        headers: { 'x-svc-approval': `${id}:0` },
      })
    const answers = await Promise.all([send(), send(), send()])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    expect(refusal(await send())).toEqual([409, 'already_used', []])
    // What the other row replaces has changed.
    await service.storage.write((db) => db.updateTable('geofences').set({ radius: 151 }).execute(), {
      org: 0,
    })
    const update = await service.call('PUT', `/organization/${acme.id}/update/geo-fence/${site}`, {
      body: { radius: 300 },
      key: people,
      headers: { 'x-svc-approval': `${id}:1` },
    })
    expect(refusal(update)[1]).toBe('other_subject')
  })

  test.each(['pending', 'denied', 'expired', 'late'] as const)(
    'permits nothing while it is %s',
    async (state) => {
      const { request_id } = dataOf(await ask([user(1)]))
      if (state === 'denied') dataOf(await decide(service, request_id, ada.key, { decision: 'deny' }))
      if (state === 'late') dataOf(await decide(service, request_id, ada.key))
      if (state === 'late' || state === 'expired') clock.tick(3600_000)
      const code = state === 'late' ? 'use_by_passed' : 'not_approved'
      expect(refusal(await create(user(1), `${request_id}:0`))[1]).toBe(code)
    },
  )
})

test('a row may concern a user whom an earlier row creates', async () => {
  const rows: Row[] = [
    user(1),
    { operation: 'setUserTimeslots', mobile: '+12025550301', input: { org_id: acme.id, timeslots: [slot] } },
    { operation: 'holdUser', mobile: '+12025550301', input: { org_id: acme.id } },
  ]
  const id = await approved(rows)
  const made = dataOf(await create(rows[0]!, `${id}:0`))
  const set = (row: number) =>
    service.call('PUT', `/user/${made.id}/timeslots/update`, {
      body: { org_id: acme.id, timeslots: [slot] },
      key: people,
      headers: { 'x-svc-approval': `${id}:${row}` },
    })
  expect(refusal(await set(2))[1]).toBe('other_subject')
  expect((await set(1)).status).toBe(200)
  const hold = await service.call('POST', `/organization/${acme.id}/user/${made.id}/pending`, {
    key: people,
    headers: { 'x-svc-approval': `${id}:2` },
  })
  expect(hold.status).toBe(200)
})

test('a row that another program changed in the store is not used', async () => {
  const rows = [user(1), user(2)]
  const id = await approved(rows)
  expect((await create(rows[0]!, `${id}:0`)).status).toBe(200)
  const { request_id: other } = dataOf(await ask([user(3)]))
  // A row that was used, and one that asks for something else.
  await service.runSql('update batch_rows set used_at = null where request_id = ? and row_index = 0', [id])
  await service.runSql(
    `update batch_rows set digest = (select digest from batch_rows where request_id = ?)
     where request_id = ? and row_index = 1`,
    [other, id],
  )
  const before = await contentsOf(service)
  expect(refusal(await create(user(3), `${id}:1`))[1]).toBe('request_not_authentic')
  expect(await contentsOf(service)).toEqual(before)
  const altered = dataOf(await service.call('GET', `/svc/v1/audit/altered?org_id=${acme.id}`))
  expect(altered).toContainEqual(expect.objectContaining({ kind: 'approval', id }))
})

test('a row that another program rewrote is read by nobody, and is listed', async () => {
  const { request_id } = dataOf(await ask([user(1), user(2)]))
  const rows = () => service.call('GET', `/svc/v1/approvals/${request_id}/rows`, { key: people })
  expect(dataOf(await rows())).toHaveLength(2)
  await service.runSql(
    "update batch_rows set data = replace(data, 'Number1', 'Number7') where request_id = ? and row_index = 0",
    [request_id],
  )
  expect(refusal(await rows())).toEqual([403, 'request_not_authentic', []])
  const altered = dataOf(await service.call('GET', `/svc/v1/audit/altered?org_id=${acme.id}`))
  expect(altered).toEqual([{ org_id: acme.id, kind: 'approval', id: request_id }])
})

test('nobody reads a list from which a row is hidden', async () => {
  const { request_id } = dataOf(await ask([user(1), user(2), user(3)]))
  const rows = () => service.call('GET', `/svc/v1/approvals/${request_id}/rows`, { key: people })
  await service.runSql('delete from batch_rows where request_id = ? and row_index = 2', [request_id])
  expect(refusal(await rows())).toEqual([403, 'request_not_authentic', []])
  await service.runSql("UPDATE approvals SET status = 'approved'")
  expect(refusal(await rows())).toEqual([403, 'request_not_authentic', []])
})

test('a request that another program changed after its first row was used permits no other', async () => {
  const rows = [user(1), user(2)]
  const id = await approved(rows)
  expect((await create(rows[0]!, `${id}:0`)).status).toBe(200)
  await service.runSql('update approvals set row_mac = ? where request_id = ?', ['other', id])
  const answers = [await create(rows[1]!, `${id}:1`), await create(rows[1]!, `${id}:1`)]
  expect(answers.map((one) => refusal(one)[1])).toEqual(['request_not_authentic', 'request_not_authentic'])
})

test.each([
  [
    'is withdrawn',
    (id: string) => service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key: people, body: {} }),
  ],
  [
    'expires',
    (id: string) => {
      clock.tick(24 * hour)
      return service.call('GET', `/svc/v1/approvals/${id}`)
    },
  ],
])('the rows of a list that %s are not kept', async (_, end) => {
  const { request_id } = dataOf(await ask([user(1), user(2)]))
  const kept = async () => dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}/rows`)).length
  expect(await kept()).toBe(2)
  dataOf(await end(request_id))
  expect(await kept()).toBe(0)
})
