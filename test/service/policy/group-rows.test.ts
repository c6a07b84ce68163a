import { onPostgres } from '../storage/postgres-databases.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { stateHeads } from '../../../src/service/events/audit-heads.ts'
import { type ChainRow, verifyChain } from '../../../src/receipt/chain.ts'
import { appendForged } from '../forged-audit.ts'
import { dataOf, fence, refusal, refusedWithoutTrace } from '../fixtures.ts'
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
  remove,
  service,
  show,
} from '../members/groups-stage.ts'

installHooks()

beforeEach(async () => {
  dataOf(await create('sre', [ada.id, grace.id]))
  dataOf(await create('dba', [grace.id]))
})

const altered = async () => dataOf(await service.call('GET', `/svc/v1/audit/altered?org_id=${acme.id}`))
const headIsAltered = { org_id: 1, kind: 'rule_head', id: '1' }

/** Puts back what a table held before, row by row. */
const restore = async (table: 'groups' | 'rule_heads', rows: object[]): Promise<void> => {
  await service.runSql(`DELETE FROM ${table}`)
  for (const row of rows) {
    const names = Object.keys(row)
    const marks = names.map(() => '?').join(', ')
    await service.runSql(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, Object.values(row))
  }
}

/** A write that a rule can hold. */
const makeFence = () =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence, key: acme.key })

/** What a list, a held write, the operator and whoever verifies the audit find. */
const findings = async () => {
  const rows = dataOf(await service.call('GET', `/svc/v1/audit?org_id=${acme.id}`)) as ChainRow[]
  const { ok } = verifyChain(rows.toSorted((a, b) => a.seq - b.seq))
  return [refusal(await list())[1], refusal(await makeFence())[1], await altered(), ok]
}

describe('groups that another program has changed', () => {
  test.each([
    ['another member', "UPDATE groups SET members = '[3]' WHERE name = 'dba'", true],
    ['another name', "UPDATE groups SET name = 'dbas' WHERE name = 'dba'", true],
    ['a row that is gone', "DELETE FROM groups WHERE name = 'dba'", false],
    ['no rows at all', 'DELETE FROM groups', false],
    ['no head', 'DELETE FROM rule_heads', false],
    ['another head', "UPDATE rule_heads SET digest = 'x'", false],
    ['a head that counts from the start', 'UPDATE rule_heads SET counter = 0', false],
    ['a head of a later audit row', 'UPDATE rule_heads SET audit_seq = audit_seq + 1', false],
    ['an audit row with another name', "UPDATE audit SET subject = 'x' WHERE subject = 'rules:2'", false],
    ['an audit row with another hash', "UPDATE audit SET hash = 'x' WHERE subject = 'rules:2'", false],
  ])('are not used: %s', async (_, sql, isOfRow) => {
    expect(await altered()).toEqual([])
    await service.runSql(sql)
    for (const call of [
      () => list(),
      () => show('sre'),
      () => create('ops', [ada.id]),
      () => add('sre', alan.id),
      () => remove('sre', ada.id),
      () => drop('sre'),
    ])
      expect(await refusedWithoutTrace(service, call)).toEqual([409, 'groups_altered', []])
    const rows = isOfRow ? [{ org_id: 1, kind: 'group', id: '2' }] : []
    expect(await altered()).toEqual([...rows, headIsAltered])
  })

  test('are found if every row is an older one with its own MAC', async () => {
    const [groups, heads] = [
      await service.runSql('SELECT * FROM groups'),
      await service.runSql('SELECT * FROM rule_heads'),
    ]
    dataOf(await remove('sre', ada.id))
    expect(await altered()).toEqual([])
    await restore('groups', groups)
    expect(refusal(await show('sre'))).toEqual([409, 'groups_altered', []])
    await restore('rule_heads', heads)
    expect(refusal(await show('sre'))).toEqual([409, 'groups_altered', []])
    expect(await altered()).toEqual([headIsAltered])
  })

  test('are found if every row is an older one and the audit row after it has another name', async () => {
    const [groups, heads] = [
      await service.runSql('SELECT * FROM groups'),
      await service.runSql('SELECT * FROM rule_heads'),
    ]
    for (const one of ['3', '4']) dataOf(await create(`g${one}`, [grace.id]))
    await restore('groups', groups)
    await restore('rule_heads', heads)
    await service.runSql("UPDATE audit SET subject = 'x' WHERE subject = 'rules:3'")
    expect(refusal(await show('sre'))).toEqual([409, 'groups_altered', []])
    expect(await altered()).toEqual([headIsAltered])
  })

  test.each([
    ['nothing', "UPDATE audit SET subject = subject WHERE subject = 'rules:1'"],
    ['one audit row', "UPDATE audit SET subject = 'x' WHERE subject = 'rules:1'"],
    ['another audit row', "DELETE FROM audit WHERE subject = 'rules:2'"],
    // As if no index of the audit contained them.
    ['the name of each audit row', "UPDATE audit SET subject = 'x' WHERE subject LIKE 'rules:%'"],
  ])('are found if all of them are gone with their head and %s', async (_, sql) => {
    await service.runSql('DELETE FROM groups')
    await service.runSql('DELETE FROM rule_heads')
    await service.runSql(sql)
    expect(refusal(await list())).toEqual([409, 'groups_altered', []])
    expect(refusal(await makeFence())).toEqual([409, 'groups_altered', []])
    expect(await altered()).toEqual([headIsAltered])
  })

  test.each(['none', 'older ones'])(
    'are found if %s are behind a new audit row with their number',
    async (which) => {
      const [groups, heads] = [
        await service.runSql('SELECT * FROM groups'),
        await service.runSql('SELECT * FROM rule_heads'),
      ]
      dataOf(await create('ops', [grace.id]))
      await appendForged(service, acme.id, which === 'none' ? 0 : 2)
      await restore('groups', which === 'none' ? [] : groups)
      await restore('rule_heads', which === 'none' ? [] : heads)
      const all = ['groups_altered', 'groups_altered', [headIsAltered], false]
      expect(await findings()).toEqual(all)
      // What the service appends does not make it genuine.
      await stateHeads(service.service)
      expect(await findings()).toEqual(all)
    },
  )

  // A database runs a trigger in the middle of a transaction: after the service has checked the rows. In the dialect of SQLite.
  test.skipIf(onPostgres()).each([
    ['another group', "UPDATE groups SET members = '[3]' WHERE name = 'dba'", 409],
    // The service writes what it has read before, so that nothing of the trigger is left.
    ['the rules', "UPDATE rule_heads SET rules = '[{}]', row_mac = 'x'", 200],
    ['the counter', 'UPDATE rule_heads SET counter = 0', 200],
  ])('do not become genuine with a change of a group: a trigger changes %s', async (_, sql, status) => {
    await service.runSql(
      `CREATE TRIGGER mallory AFTER UPDATE OF members ON groups WHEN new.name = 'sre' BEGIN ${sql}; END`,
    )
    expect((await remove('sre', ada.id)).status).toBe(status)
    expect(await altered()).toEqual([])
    expect(dataOf(await service.call('GET', `/svc/v1/organizations/${acme.id}/rules`))).toEqual([])
    expect(dataOf(await show('dba')).members).toHaveLength(1)
  })

  test('let nobody leave, who would be in them again when they come back', async () => {
    await service.runSql("UPDATE groups SET members = 'x'")
    const path = `/organization/${acme.id}/delete/user/${ada.id}`
    expect(refusal(await service.call('DELETE', path))).toEqual([409, 'groups_altered', []])
  })

  test('are another organization’s own concern', async () => {
    await service.runSql('DELETE FROM rule_heads')
    const { id } = dataOf(await service.call('POST', '/organization/create', { body: { name: 'globex' } }))
    expect(dataOf(await service.call('GET', groupsAt(id)))).toEqual([])
  })
})
