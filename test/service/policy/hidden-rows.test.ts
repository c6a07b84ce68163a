import { sql } from 'kysely'
import type { ClientBase } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { fence, refusal } from '../fixtures.ts'
import { holdCalls } from '../rule-fixture.ts'
import { readFacts } from '../../../src/service/storage/postgres/facts.ts'
import { onPostgres } from '../storage/postgres-databases.ts'

// Another program hides the newest rows of the store for one call, or has the store swallow what the call leaves in the audit.

installHooks()

beforeEach(async () => {
  await holdCalls(service, acme.id, ['geofence'], [ada.id])
})

const makeFence = () =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: { ...fence, is_active: 0 } })
const fences = async () => (await service.runSql('SELECT id FROM geofences')).length

const tables = ['audit', 'groups', 'rule_heads']

test('rules that are hidden for one call are missed by it', async () => {
  expect(refusal(await makeFence())[0]).toBe(403)
  for (const table of tables) await service.runSql(`CREATE TABLE hidden_${table} AS SELECT * FROM ${table}`)
  await service.runSql(
    "DELETE FROM audit WHERE seq >= (SELECT min(seq) FROM hidden_audit WHERE subject LIKE 'rules:%')",
  )
  await service.runSql('DELETE FROM groups')
  await service.runSql('DELETE FROM rule_heads')
  const before = await fences()
  const hidden = await makeFence()
  expect(refusal(hidden)).toEqual([409, 'store_changed', []])
  expect(hidden.body.message).toMatch(/the audit of organization \d+ had \d+ rows/)
  expect(await fences()).toBe(before)
  for (const table of tables) {
    await service.runSql(`DELETE FROM ${table}`)
    await service.runSql(`INSERT INTO ${table} SELECT * FROM hidden_${table}`)
    await service.runSql(`DROP TABLE hidden_${table}`)
  }
  expect(refusal(await makeFence())[0]).toBe(403)
})

const swallow = async (when: 'BEFORE' | 'AFTER' | 'DEFERRED'): Promise<void> => {
  const onlyNew = 'DELETE FROM audit WHERE org_id = NEW.org_id AND seq = NEW.seq'
  const body = when === 'BEFORE' ? (onPostgres() ? 'RETURN NULL' : 'SELECT RAISE(IGNORE)') : onlyNew
  if (!onPostgres())
    return void (await service.runSql(`CREATE TRIGGER swallow ${when} INSERT ON audit BEGIN ${body}; END`))
  await service.runSql(
    `CREATE FUNCTION swallow() RETURNS trigger AS $$ BEGIN ${body}; RETURN NULL; END $$ LANGUAGE plpgsql`,
  )
  const trigger =
    when === 'DEFERRED'
      ? 'CONSTRAINT TRIGGER swallow AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED'
      : `TRIGGER swallow ${when} INSERT ON audit`
  await service.runSql(`CREATE ${trigger} FOR EACH ROW EXECUTE FUNCTION swallow()`)
}

afterEach(async () => {
  if (onPostgres()) await service.runSql('DROP FUNCTION IF EXISTS swallow CASCADE')
})

test.each(['BEFORE', 'AFTER', ...(onPostgres() ? (['DEFERRED'] as const) : [])] as const)(
  'nothing changes if a trigger swallows the row of the audit: %s',
  async (when) => {
    await swallow(when)
    const body = { name: 'Ops', slug: 'ops' }
    expect(refusal(await service.call('POST', '/organization/create', { body }))).toEqual([
      409,
      'store_changed',
      [],
    ])
    expect(await service.runSql("SELECT id FROM organizations WHERE slug = 'ops'")).toEqual([])
  },
)

const query = async (text: string, values: unknown[]) => ({ rows: await service.runSql(text, values) })
const found = async () => (await readFacts({ query } as unknown as ClientBase)).between

test.skipIf(onPostgres())('nor if it is gone before the end of the write', async () => {
  await service.runSql(
    'CREATE TRIGGER swallow AFTER INSERT ON idempotency BEGIN DELETE FROM audit WHERE rowid = (SELECT max(rowid) FROM audit); END',
  )
  const more = { body: { name: 'Ops', slug: 'ops' }, headers: { 'idempotency-key': 'k1' } }
  expect(refusal(await service.call('POST', '/organization/create', more))).toEqual([
    409,
    'store_changed',
    [],
  ])
  expect(await service.runSql("SELECT id FROM organizations WHERE slug = 'ops'")).toEqual([])
})

test.runIf(onPostgres())('what comes between is found', async () => {
  expect(await found()).toBeNull()
  await swallow('AFTER')
  expect(await found()).toBe('trigger swallow on audit')
})

const asBefore = 'ALTER TABLE nodes ALTER started_at TYPE text COLLATE "C"'

test.runIf(onPostgres()).each([
  [
    'a column whose values compare in another way',
    ['ALTER TABLE nodes ALTER started_at TYPE timestamptz USING NULL'],
    [asBefore],
    'type timestamp with time zone of started_at on nodes',
  ],
  [
    'one in another order',
    ['ALTER TABLE nodes ALTER started_at TYPE text COLLATE "POSIX"'],
    [asBefore],
    'type text of started_at on nodes',
  ],
  [
    'rows of another table',
    ['CREATE TABLE more () INHERITS (nodes)'],
    ['DROP TABLE more'],
    'table more on nodes',
  ],
  [
    'a view in the place of a table',
    ['ALTER TABLE nodes RENAME TO kept', 'CREATE VIEW nodes AS SELECT * FROM kept'],
    ['DROP VIEW nodes', 'ALTER TABLE kept RENAME TO nodes'],
    'rule _RETURN on nodes',
  ],
])('so is %s', async (_, changes, undo, between) => {
  for (const change of changes) await service.runSql(change)
  try {
    expect(await found()).toBe(between)
  } finally {
    for (const change of undo) await service.runSql(change)
  }
  expect(await found()).toBeNull()
})

test.runIf(onPostgres())('neither policies nor functions of another schema come between', async () => {
  const { rows } = await service.storage.read((db) =>
    sql`SELECT current_setting('row_security') AS security, current_schemas(true)::text AS schemas`.execute(
      db,
    ),
  )
  expect(rows).toEqual([{ security: 'off', schemas: '{pg_catalog,public}' }])
})

const rename = () => service.call('PUT', `/organization/${acme.id}/update`, { body: { name: 'Ops' } })

test('no row follows one whose time another program wrote, also for the operator', async () => {
  const ofAcme = `FROM audit WHERE org_id = ${acme.id}`
  const newest = await service.runSql(`SELECT seq, at ${ofAcme} ORDER BY seq DESC LIMIT 1`)
  const { seq, at } = newest[0] as { seq: number; at: string }
  const last = `WHERE org_id = ${acme.id} AND seq = ${seq}`
  await service.runSql(`UPDATE audit SET at = '2099-01-01T00:00:00.000Z' ${last}`)
  expect(refusal(await rename())).toEqual([409, 'groups_altered', []])
  await service.runSql(`UPDATE audit SET at = '${at}' ${last}`)
  expect(await service.runSql(`SELECT seq ${ofAcme} AND seq > ${seq}`)).toEqual([])
  expect((await rename()).status).toBe(200)
})

test('the operator ends an organization whose groups another program has changed', async () => {
  await service.runSql("UPDATE groups SET created_at = 'x'")
  expect(refusal(await makeFence())).toEqual([409, 'groups_altered', []])
  expect((await service.call('DELETE', `/organization/${acme.id}/delete`)).status).toBe(200)
})
