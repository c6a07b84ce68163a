import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { digestOf } from '../../../src/receipt/subject.ts'
import { acme, ada, clock, service } from '../acme-with-ada.ts'
import { contentsOf, createMember, createTenant, dataOf, refusal, twinText } from '../fixtures.ts'
import { at } from '../rule-fixture.ts'
import { hour } from '../clock.ts'
import {
  approved,
  ask,
  create,
  eve,
  group,
  installHooks,
  keyWith,
  people,
  type Row,
  user,
} from './batch-stage.ts'

installHooks()

describe('one approval for many rows', () => {
  test('asks once, and signs what the service computed', async () => {
    const before = service.notified.length
    const rows: Row[] = [
      user(1),
      user(2, { role: 'admin' }),
      { operation: 'removeUser', input: { org_id: acme.id, user_id: eve } },
      { operation: 'updateUser', input: { orgId: acme.id, userId: ada.id, role: 'admin' } },
    ]
    const answer = dataOf(await ask(rows))
    expect(answer).toMatchObject({ status: 'pending', row_indexes: [0, 1, 2, 3], existing: [] })
    expect(service.notified.length).toBe(before + 1)
    const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${answer.request_id}`))
    expect(subject.data).toMatchObject({
      operation: 'batch',
      counts: { Deletions: 1, 'Role changes': 2, 'user create': 2, 'user remove': 1, 'user update': 1 },
      deletions: [`user remove: ${twinText(eve, 60)}`],
      body: { roles: ['New Number2 (new, ••••••••0302): admin', `${twinText(ada.id)}: admin`] },
    })
    expect(subject.summary).toBe(
      'Batch in acme (Deletions 1, Role changes 2, user create 2, user remove 1, user update 1)',
    )
    const listed = dataOf(await service.call('GET', `/svc/v1/approvals/${answer.request_id}/rows`))
    expect(
      listed.map(({ row_index, summary }: { row_index: number; summary: string }) => [row_index, summary]),
    ).toEqual([
      [0, 'Create user in acme: New Number1'],
      [1, 'Create user in acme: New Number2'],
      [2, `Remove user in acme: ${twinText(eve, 60)}`],
      [3, `Update user in acme: ${twinText(ada.id)}`],
    ])
    const digests = listed.map(({ data }: { data: object }) => digestOf(data))
    expect(subject.data.file).toEqual({ name: 'list of 4 changes', sha256: sha256(JSON.stringify(digests)) })
  })
})

test('an administrator who comes back is a change of a role', async () => {
  await service.storage.write(
    (db) =>
      db
        .updateTable('memberships')
        .set({ state: 'pending', role: 'admin' })
        .where('user_id', '=', Number(eve))
        .execute(),
    { org: null, routine: true },
  )
  const rows: Row[] = [user(1), { operation: 'acceptUser', input: { org_id: acme.id, user_id: eve } }]
  const { request_id } = dataOf(await ask(rows))
  const { subject } = dataOf(await service.call('GET', `/svc/v1/approvals/${request_id}`))
  expect(subject.data.counts).toMatchObject({ 'Role changes': 1 })
  expect(subject.data.body.roles).toEqual(['+12025550160: admin'])
})

test('nobody asks in the words of a list whose rows the service does not have', async () => {
  const file = { name: 'list of 1 changes', sha256: 'ab'.repeat(32) }
  const data = { organization: null, operation: 'batch', body: {}, counts: { 'user create': 1 }, file }
  const body = { subject: { type: 'request', data }, approvers: ['+12025550101'] }
  const answer = await service.call('POST', '/svc/v1/approvals', { body })
  expect(refusal(answer)[0]).toBe(422)
  expect(answer.body.data.issues).toMatchObject([{ field: 'subject.data.operation' }])
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
    const more = dataOf(await ask([rows[2]!, user(4)]))
    expect(more.request_id).not.toBe(id)
    expect(more.asks_again).toBe(`the list is not the one of ${id}`)
  })

  test('of another key is another request', async () => {
    const id = await approved([user(1)])
    const other = dataOf(await ask([user(1)], {}, acme.key))
    expect(other.request_id).not.toBe(id)
    expect(other.asks_again).toBe('another key asked before, and only that key can use its approval')
  })

  test('says that the approval before is too old', async () => {
    const id = await approved([user(1)])
    const { use_by } = dataOf(await service.call('GET', `/svc/v1/approvals/${id}`))
    clock.tick(hour)
    const again = dataOf(await ask([user(1)]))
    expect(again.asks_again).toBe(`${id} had to be used until ${use_by}`)
    expect(dataOf(await ask([user(1)])).asks_again).toBeUndefined()
  })

  test('says that other rules ask now', async () => {
    dataOf(await service.call('POST', at(acme.id, `groups/${group}/members`), { body: { user_id: eve } }))
    const id = await approved([user(1)])
    const match = { type: 'request', operation: ['user create'] }
    dataOf(
      await service.call('POST', at(acme.id, 'rules'), { body: { name: 'more', match, who: [`@${group}`] } }),
    )
    expect(dataOf(await ask([user(1)])).asks_again).toBe(`the rules are not those of ${id}`)
  })

  test('that is new says nothing', async () => {
    await approved([user(1)])
    expect(dataOf(await ask([user(2)])).asks_again).toBeUndefined()
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

  test.each([
    ['removes', () => ({ operation: 'removeUser', input: { org_id: acme.id, user_id: ada.id } })],
    ['holds', () => ({ operation: 'holdUser', input: { org_id: acme.id, user_id: ada.id } })],
    ['holds by number', () => ({ operation: 'holdUser', input: { org_id: acme.id }, mobile: ada.mobile })],
  ] as [string, () => Row][])(
    '%s somebody whom it asks, who may not be left out of the other rows',
    async (_, leaving) => {
      dataOf(await service.call('POST', at(acme.id, `groups/${group}/members`), { body: { user_id: eve } }))
      const rows = [user(1), leaving()]
      const before = await contentsOf(service)
      expect(refusal(await ask(rows))).toEqual([422, 'invalid_field', ['rows[1]']])
      expect(await contentsOf(service)).toEqual(before)
      // Alone, the others answer it.
      expect(dataOf(await ask([rows[1]!])).lines).toMatchObject([{ people: [{ user_id: eve }] }])
    },
  )

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

  test('is of a key that can send no row, whatever it says', async () => {
    const asking = await keyWith(['ask'])
    const answer = await service.call('POST', at(acme.id, 'batches'), { body: { rows: 'x' }, key: asking })
    expect(refusal(answer)[1]).toBe('scope_missing')
  })

  test('is read in parts, and leaves the process to others in between', async () => {
    const rows = Array.from({ length: 400 }, (_, n) => ({
      operation: 'updateUser',
      input: { orgId: acme.id, userId: eve, first_name: `N${n % 399}` },
    }))
    // The last one is the first, written differently.
    rows[399]!.input = { first_name: 'N0', userId: eve, orgId: acme.id }
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    expect(refusal(await ask(rows))).toEqual([422, 'invalid_field', ['rows[399]']])
    isOver = true
    expect(turns).toBeGreaterThan(40)
  })

  test('is too long', async () => {
    const rows = Array.from({ length: 10_001 }, (_, n) => user(n, { mobile: String(2026000000 + n) }))
    expect(refusal(await ask(rows))).toEqual([422, 'invalid_field', ['rows']])
  })
})
