import { describe, expect, test } from 'vitest'
import { createMember, createTenant, auditOf, dataOf, refusal, refusedWithoutTrace } from '../fixtures.ts'
import { createApprover } from '../approver.ts'
import {
  acme,
  ada,
  add,
  alan,
  create,
  drop,
  grace,
  groupsAt,
  installHooks,
  list,
  membersOf,
  remove,
  service,
  show,
} from './groups-stage.ts'

installHooks()

describe('a group', () => {
  test('has the members that were named, each once and by number', async () => {
    const created = dataOf(await create('sre', [grace.id, ada.id, grace.id]))
    expect(created).toEqual({
      id: '1',
      org_id: acme.id,
      name: 'sre',
      members: [ada.id, grace.id],
      people: [`Ada Lovelace (user ${ada.id})`, `Ada Lovelace (user ${grace.id})`],
      asleep: [],
      away: [],
      created_at: expect.any(String),
    })
    expect(dataOf(await show('sre'))).toEqual(created)
    expect(dataOf(await list())).toEqual([created])
  })

  test('is listed page by page, without those that were deleted', async () => {
    for (const name of ['a', 'b', 'c']) dataOf(await create(name, [ada.id]))
    dataOf(await drop('b'))
    const first = await list('?limit=1')
    expect(dataOf(first).map(({ name }: { name: string }) => name)).toEqual(['a'])
    const [, next] = /<([^>]+)>; rel="next"/.exec(first.headers['link']!)!
    expect(dataOf(await service.call('GET', next!.replace(/^http:\/\/[^/]+/, '')))[0].name).toBe('c')
  })

  test('keeps nobody who leaves while another program has changed it: they do not leave', async () => {
    dataOf(await create('sre', [ada.id, grace.id]))
    const [{ created_at }] = (await service.runSql('SELECT created_at FROM groups')) as [
      { created_at: string },
    ]
    await service.runSql("UPDATE groups SET created_at = 'x'")
    const body = { org_id: acme.id, user_id: grace.id }
    const leave = () => service.call('POST', '/organization/remove/user', { body })
    expect(refusal(await leave())).toEqual([409, 'groups_altered', []])
    await service.runSql('UPDATE groups SET created_at = ?', [created_at])
    dataOf(await leave())
    expect(await membersOf('sre')).toEqual([ada.id])
  })

  test('gains and loses members', async () => {
    dataOf(await create('sre', [grace.id]))
    expect(dataOf(await add('sre', ada.id)).members).toEqual([ada.id, grace.id])
    expect(refusal(await add('sre', ada.id))).toEqual([409, 'already_in_group', []])
    expect(dataOf(await remove('sre', grace.id)).members).toEqual([ada.id])
    expect(refusal(await remove('sre', grace.id))).toEqual([404, 'not_found', []])
  })

  test('has only users, and names the one that does not exist', async () => {
    expect((await create('sre', [ada.id, '99'])).body.message).toBe('User 99 not found')
    for (const wrong of ['Dana', '+12025550101'])
      expect((await create('sre', [ada.id, wrong])).body.message).toBe(
        `members[1] must be the id of a user, which svc user list shows, not "${wrong}"`,
      )
    dataOf(await create('sre', [ada.id]))
    expect((await add('sre', 'Dana')).body.message).toMatch(/^user_id must be the id of a user/)
  })

  test('keeps its last member', async () => {
    dataOf(await create('sre', [ada.id]))
    expect(await refusedWithoutTrace(service, () => remove('sre', ada.id))).toEqual([
      409,
      'last_of_group',
      [],
    ])
  })

  test('has at most 20 members', async () => {
    const people = []
    for (let n = 10; n < 30; n++) people.push((await createApprover(service, acme.id, n)).id)
    expect(refusal(await create('all', [...people, ada.id]))).toEqual([422, 'invalid_field', ['members']])
    dataOf(await create('all', people))
    expect(await refusedWithoutTrace(service, () => add('all', ada.id))).toEqual([409, 'group_full', []])
  })

  test('is written by its name in lower case alone', async () => {
    expect(refusal(await create('SRE', [ada.id]))).toEqual([422, 'invalid_field', ['name']])
    dataOf(await create('sre', [ada.id]))
    expect(refusal(await show('SRE'))).toEqual([422, 'invalid_field', ['name']])
  })

  test('takes a name that no other has or had', async () => {
    dataOf(await create('sre', [ada.id]))
    expect(await refusedWithoutTrace(service, () => create('sre', [alan.id]))).toEqual([
      409,
      'group_exists',
      [],
    ])
    dataOf(await drop('sre'))
    expect(refusal(await show('sre'))).toEqual([404, 'not_found', []])
    expect(await refusedWithoutTrace(service, () => create('sre', [alan.id]))).toEqual([
      409,
      'group_name_used',
      [],
    ])
    expect(refusal(await drop('sre'))).toEqual([404, 'not_found', []])
  })

  test('can have the name of one in another organization', async () => {
    const { id } = await createTenant(service, 'globex')
    const { id: eve } = await createApprover(service, id, 7)
    dataOf(await create('sre', [ada.id]))
    const body = { name: 'sre', members: [eve] }
    expect(dataOf(await service.call('POST', groupsAt(id), { body })).members).toEqual([eve])
    expect(await membersOf('sre')).toEqual([ada.id])
  })

  test('is created once by a request that is repeated', async () => {
    const headers = { 'idempotency-key': 'create-sre' }
    const first = await create('sre', [ada.id], undefined, headers)
    expect(dataOf(await create('sre', [ada.id], undefined, headers))).toEqual(dataOf(first))
    expect(dataOf(await list())).toHaveLength(1)
  })

  test('is in the audit with the number of the change', async () => {
    dataOf(await create('sre', [ada.id, alan.id]))
    dataOf(await remove('sre', alan.id))
    expect((await auditOf(service, acme.id)).slice(-4)).toEqual([
      ['createGroup', 'rules:1', []],
      ['createGroup', 'group:1', ['name', 'members']],
      ['removeGroupMember', 'rules:2', []],
      ['removeGroupMember', 'group:1', ['members']],
    ])
  })

  test('counts against the limit of the organization until it is deleted', async () => {
    const path = `/svc/v1/organizations/${acme.id}/limits`
    dataOf(await service.call('POST', path, { body: { groups: 1 } }))
    dataOf(await create('sre', [ada.id]))
    expect(await refusedWithoutTrace(service, () => create('dba', [ada.id]))).toEqual([
      409,
      'quota_exceeded',
      [],
    ])
    dataOf(await drop('sre'))
    dataOf(await create('dba', [ada.id]))
  })

  test('is created by one of two requests at the same time', async () => {
    const answers = await Promise.all([create('sre', [ada.id]), create('sre', [alan.id])])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const joined = await Promise.all([add('sre', grace.id), add('sre', grace.id)])
    expect(joined.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(await membersOf('sre')).toContain(grace.id)
  })
})

describe('somebody who joins a group', () => {
  test('has an active device', async () => {
    const { id } = await createMember(service, acme.id, 8)
    const without = [409, 'member_not_enrolled', []]
    expect(await refusedWithoutTrace(service, () => create('sre', [ada.id, id]))).toEqual(without)
    dataOf(await create('sre', [ada.id]))
    expect(await refusedWithoutTrace(service, () => add('sre', id))).toEqual(without)
  })

  test('is an active member of the organization', async () => {
    const foreign = await createTenant(service, 'globex')
    const { id: eve } = await createApprover(service, foreign.id, 7)
    const pending = `/organization/${acme.id}/user/${alan.id}/pending`
    dataOf(await service.call('POST', pending, { body: {} }))
    for (const id of [eve, alan.id, '999'])
      expect(await refusedWithoutTrace(service, () => create('sre', [ada.id, id]))).toEqual([
        404,
        'not_found',
        [],
      ])
  })
})

describe('a change of a group', () => {
  test('is not for a key without the scope rules', async () => {
    const scopes = ['ask', 'read', 'people', 'devices', 'keys', 'notify', 'app']
    const body = { name: 'most', org_id: acme.id, scopes }
    const { key } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
    dataOf(await create('sre', [ada.id, alan.id]))
    for (const change of [
      () => create('dba', [ada.id], key),
      () => add('sre', grace.id, key),
      () => remove('sre', ada.id, key),
      () => drop('sre', key),
    ])
      expect(await refusedWithoutTrace(service, change)).toEqual([403, 'scope_missing', []])
    expect(dataOf(await show('sre', key)).name).toBe('sre')
  })

  test('is not for a key of another organization', async () => {
    const { key } = await createTenant(service, 'globex')
    dataOf(await create('sre', [ada.id, alan.id]))
    for (const call of [
      () => show('sre', key),
      () => create('dba', [ada.id], key),
      () => add('sre', grace.id, key),
      () => remove('sre', ada.id, key),
      () => drop('sre', key),
    ])
      expect((await refusedWithoutTrace(service, call))[0]).toBeGreaterThanOrEqual(403)
  })
})
