import { beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { digestOf } from '../../../src/receipt/subject.ts'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { auditOf, contentsOf, createMember, createTenant, dataOf, fence, refusal, slot } from '../fixtures.ts'
import { at, holdCalls } from '../rule-fixture.ts'

installHooks()

type Row = { operation: string; input: Record<string, unknown>; mobile?: string }

let people: string
let eve: string
let site: number

const keyWith = async (scopes: string[]) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name: scopes[0], org_id: acme.id, scopes } }))
    .key

beforeEach(async () => {
  people = await keyWith(['people', 'rules', 'read'])
  eve = (await createMember(service, acme.id, 60)).id
  site = dataOf(
    await service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
      body: { ...fence, is_active: 0 },
    }),
  ).id
  await holdCalls(service, acme.id, ['user', 'geofence', 'timeslot'], [ada.id])
})

const user = (n: number, more: object = {}): Row => ({
  operation: 'createUser',
  input: {
    orgId: acme.id,
    email: `new${n}@acme.example`,
    country_code: '+1',
    mobile: String(2025550300 + n),
    first_name: 'New',
    last_name: `Number${n}`,
    ...more,
  },
})

const ask = (rows: Row[], more: object = {}, key = people) =>
  service.call('POST', at(acme.id, 'batches'), { body: { rows, ...more }, key })

const create = ({ input }: Row, approval: string | undefined, key = people) => {
  const { orgId: _, ...body } = input
  const headers = approval === undefined ? {} : { 'x-svc-approval': approval }
  return service.call('POST', `/organization/${acme.id}/create/user`, { body, key, headers })
}

const approved = async (rows: Row[], more: object = {}): Promise<string> => {
  const { request_id } = dataOf(await ask(rows, more))
  dataOf(await decide(service, request_id, ada.key))
  return request_id
}

describe('one approval for many rows', () => {
  test('asks once, and signs what the service computed', async () => {
    const before = service.notified.length
    const rows: Row[] = [
      user(1),
      user(2, { role: 'admin' }),
      { operation: 'removeUser', input: { org_id: acme.id, user_id: eve } },
    ]
    const answer = dataOf(await ask(rows))
    expect(answer).toMatchObject({ status: 'pending', row_indexes: [0, 1, 2], existing: [] })
    expect(service.notified.length).toBe(before + 1)
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${answer.request_id}`))
    expect(subject.data).toMatchObject({
      operation: 'batch',
      counts: { Deletions: 1, 'Role changes': 1, 'user create': 2, 'user remove': 1 },
      deletions: ['user remove: Ada Lovelace'],
      body: { roles: ['New Number2: admin'] },
    })
    expect(subject.summary).toBe('Batch in acme (Deletions 1, Role changes 1, user create 2, user remove 1)')
    const listed = dataOf(await service.call('GET', `/svc/v1/approvals/${answer.request_id}/rows`))
    expect(
      listed.map(({ row_index, summary }: { row_index: number; summary: string }) => [row_index, summary]),
    ).toEqual([
      [0, 'Create user in acme: New Number1'],
      [1, 'Create user in acme: New Number2'],
      [2, 'Remove user in acme: +12025550160'],
    ])
    const digests = listed.map(({ data }: { data: object }) => digestOf(data))
    expect(subject.data.file).toEqual({ name: 'list of 3 changes', sha256: sha256(JSON.stringify(digests)) })
  })

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

describe('a repeated list', () => {
  test('asks nobody again, also when a part of it is done', async () => {
    const rows = [user(1), user(2), user(3)]
    const id = await approved(rows)
    expect((await create(rows[1]!, `${id}:1`)).status).toBe(200)
    const before = service.notified.length
    const again = dataOf(await ask(rows, { skip_existing: true }))
    expect(again).toMatchObject({
      request_id: id,
      status: 'approved',
      row_indexes: [0, null, 2],
      existing: [1],
    })
    expect(dataOf(await ask([rows[2]!]))).toMatchObject({ request_id: id, row_indexes: [2] })
    expect(service.notified.length).toBe(before)
    expect(dataOf(await ask([rows[2]!, user(4)])).request_id).not.toBe(id)
  })

  test('of another key is another request', async () => {
    const id = await approved([user(1)])
    expect(dataOf(await ask([user(1)], {}, acme.key)).request_id).not.toBe(id)
  })
})

describe('a list that nobody is asked about', () => {
  test('has users who exist', async () => {
    const taken = { ...user(1), input: { ...user(1).input, mobile: '2025550160' } }
    const before = service.notified.length
    expect(refusal(await ask([user(2), taken]))).toEqual([409, 'batch_conflict', ['rows[1]']])
    expect(service.notified.length).toBe(before)
    expect(dataOf(await ask([user(2), taken], { skip_existing: true }))).toMatchObject({
      row_indexes: [0, null],
      existing: [1],
    })
  })

  test('is held by no rule', async () => {
    const input = { org_id: acme.id, label: 'x' }
    expect(refusal(await ask([{ operation: 'createAuthCode', input }]))[1]).toBe('no_rule_holds')
  })

  test.each([
    ['a row twice', () => [user(1), user(2), user(1)], [422, 'invalid_field', ['rows[2]']]],
    ['a mistake', () => [user(1), user(2, { email: 'x' })], [422, 'invalid_field', ['rows[1].email']]],
    ['another organization', () => [user(1, { orgId: 999 })], [422, 'invalid_field', ['rows[0].input']]],
    [
      'something that does not exist',
      () => [{ operation: 'removeUser', input: { org_id: acme.id, user_id: '999' } }],
      [422, 'invalid_field', ['rows[0]']],
    ],
    [
      'a change of rules',
      () => [{ operation: 'deleteRule', input: { org_id: acme.id, name: 'x' } }],
      [422, 'invalid_field', ['rows[0].operation']],
    ],
  ] as [string, () => Row[], unknown][])('has %s', async (_, rows, said) => {
    const before = await contentsOf(service)
    expect(refusal(await ask(rows()))).toEqual(said)
    expect(await contentsOf(service)).toEqual(before)
  })

  test("names another organization's user", async () => {
    const other = await createTenant(service, 'other')
    const { id } = await createMember(service, other.id, 70)
    const rows = [{ operation: 'removeUser', input: { org_id: acme.id, user_id: id } }]
    expect(refusal(await ask(rows))).toEqual([422, 'invalid_field', ['rows[0]']])
    expect(
      refusal(await service.call('POST', at(other.id, 'batches'), { body: { rows }, key: people }))[0],
    ).toBe(404)
  })

  test('needs a scope that the key lacks', async () => {
    const rules = await keyWith(['rules'])
    expect(refusal(await ask([user(1)], {}, rules))[1]).toBe('scope_missing')
  })

  test('is too long', async () => {
    const rows = Array.from({ length: 10_001 }, (_, n) => user(n, { mobile: String(2026000000 + n) }))
    expect(refusal(await ask(rows))).toEqual([422, 'invalid_field', ['rows']])
  })
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

test('a request that another program changed after its first row was used permits no other', async () => {
  const rows = [user(1), user(2)]
  const id = await approved(rows)
  expect((await create(rows[0]!, `${id}:0`)).status).toBe(200)
  await service.runSql('update approvals set row_mac = ? where request_id = ?', ['other', id])
  const answers = [await create(rows[1]!, `${id}:1`), await create(rows[1]!, `${id}:1`)]
  expect(answers.map((one) => refusal(one)[1])).toEqual(['request_not_authentic', 'request_not_authentic'])
})
