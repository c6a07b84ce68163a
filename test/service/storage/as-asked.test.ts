import { expect, test } from 'vitest'
import { ofActiveDevice, ofKeptDevice } from '../../../src/service/devices/active.ts'
import { ofMember, withinOrganization } from '../../../src/service/call/tenant.ts'
import { type Asking, requireAsked } from '../../../src/service/storage/as-asked.ts'
import { queriesWith } from '../../../src/service/storage/postgres/dialect.ts'
import type { Db } from '../../../src/service/storage/schema.ts'
import { statement } from '../../../src/service/storage/statement.ts'

type Row = Record<string, unknown>

/** The queries of a database that answers each with these rows. */
const answering = (...rows: Row[]): Db =>
  queriesWith(async <R>(asking: Asking) => {
    requireAsked(asking, rows)
    return { rows: rows as R[] }
  })

const now = '2030-01-31T12:00:00.000Z'
const later = '2030-01-31T12:00:00.001Z'
const device = { id: 5, org_id: 1, user_id: 2, state: 'active', approved_at: null, active_from: now }

const devices = (row: Row) => answering(row).selectFrom('devices').selectAll()
const oneOf = (row: Row) => answering(row).selectFrom('devices as d')

test.each<[string, (row: Row) => { execute(): Promise<unknown> }, Row]>([
  ['the id', (row) => devices(row).where('id', '=', 5), { id: 1 }],
  ['a list of ids', (row) => devices(row).where('id', 'in', [5, 6]), { id: 1 }],
  ['a column that is null', (row) => devices(row).where('approved_at', 'is', null), { approved_at: now }],
  ['a column that is not', (row) => devices(row).where('active_from', 'is not', null), { active_from: null }],
  ['a time that is over', (row) => devices(row).where('active_from', '<=', now), { active_from: later }],
  ['one that is missing', (row) => devices(row).where('active_from', '<=', now), { active_from: null }],
  [
    'one to come',
    (row) => devices(row).where('active_from', '>=', now),
    { active_from: '2030' + now.slice(4, 10) + 'T11:59:59.999Z' },
  ],
  ['another state', (row) => devices(row).where('state', '<>', 'revoked'), { state: 'revoked' }],
  ['a member', (row) => devices(row).where(ofMember({ org_id: 1, user_id: 2 })), { user_id: 3 }],
  ['an organization', (row) => devices(row).where(withinOrganization(1, 'org_id')), { org_id: 2 }],
  ['an active device', (row) => devices(row).where(ofActiveDevice('devices')), { state: 'pending' }],
  [
    'one of several conditions',
    (row) => devices(row).where(({ or, eb }) => or([eb('id', '=', 5), eb('user_id', '=', 9)])),
    { id: 1 },
  ],
  ['a kept device', (row) => devices(row).where(ofKeptDevice('devices')), { state: 'revoked' }],
  [
    'a column of one table of several',
    (row) =>
      oneOf(row)
        .innerJoin('memberships as m', 'm.user_id', 'd.user_id')
        .where(ofMember({ org_id: 1, user_id: 2 }, 'd'))
        .selectAll('d')
        .select('m.first_name'),
    { org_id: 2 },
  ],
  ['a column with a name', (row) => oneOf(row).where('d.id', '=', 5).select('d.id as device'), { device: 1 }],
  [
    'a row that is changed',
    (row) =>
      answering(row).updateTable('devices').set({ state: 'revoked' }).where('id', '=', 5).returningAll(),
    { id: 1 },
  ],
  [
    'a row that is deleted',
    (row) => answering(row).deleteFrom('devices').where('id', '=', 5).returning('id'),
    { id: 1 },
  ],
])('refuses a row with another value: %s', async (_, query, other) => {
  await expect(query({ ...device, device: 5, ...other }).execute()).rejects.toMatchObject({
    status: 409,
    code: 'store_changed',
  })
  expect(await query({ ...device, device: 5 }).execute()).toHaveLength(1)
})

test('refuses two rows with one id, but for those of a join', async () => {
  const db = answering(device, { ...device, org_id: 2 })
  await expect(db.selectFrom('devices').selectAll().execute()).rejects.toThrow('two rows of one id')
  const joined = db
    .selectFrom('devices as d')
    .innerJoin('memberships as m', 'm.user_id', 'd.user_id')
    .selectAll('d')
  expect(await joined.execute()).toHaveLength(2)
})

test('refuses a row that is not the one that was inserted', async () => {
  const values = { name: 'acme', slug: 'acme', policy: '{}', created_at: now, updated_at: now }
  const added = (row: Row) => answering(row).insertInto('organizations').values(values).returningAll()
  expect(await added({ id: 5, ...values }).execute()).toHaveLength(1)
  await expect(added({ id: 5, ...values, slug: 'globex' }).execute()).rejects.toThrow('not asked for (slug)')
  const again = (row: Row) =>
    answering(row)
      .insertInto('organizations')
      .values({ ...values, id: 5 })
      .onConflict((of) => of.column('slug').doNothing())
      .returning('id')
  await expect(again({ id: 1 }).execute()).rejects.toThrow('not asked for (id)')
  // What is there already may be another row.
  const kept = answering({ id: 1 })
    .insertInto('organizations')
    .values({ ...values, id: 5 })
    .onConflict((of) => of.column('slug').doUpdateSet({ name: 'x' }))
    .returning('id')
  expect(await kept.execute()).toEqual([{ id: 1 }])
})

test('refuses a row that has not the value of a statement', async () => {
  const find = statement((db, { id }: { id: number }) =>
    db.selectFrom('devices').where('id', '=', id).where('state', '=', 'active').selectAll(),
  )
  expect((await find(answering(device), { id: 5 })).rows).toEqual([device])
  await expect(find(answering(device), { id: 6 })).rejects.toThrow('not asked for (id)')
  await expect(find(answering({ ...device, state: 'pending' }), { id: 5 })).rejects.toThrow('(state)')
})

test.each<[string, (row: Row) => { execute(): Promise<unknown> }]>([
  [
    'a column that is not in the answer',
    (row) => answering(row).selectFrom('devices').where('id', '=', 9).select('name'),
  ],
  [
    'a column that the statement itself changes',
    (row) => answering(row).updateTable('devices').set({ id: 5 }).where('id', '=', 9).returningAll(),
  ],
  [
    'one of two columns of the same name',
    (row) =>
      oneOf(row)
        .innerJoin('memberships as m', 'm.user_id', 'd.user_id')
        .where('m.id', '=', 9)
        .selectAll('d')
        .select('m.id'),
  ],
])('does not judge %s', async (_, query) => {
  expect(await query(device).execute()).toEqual([device])
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, new Date(now), Buffer.from('x'), 1n])(
  'refuses a value that no column can have: %s',
  async (active_from) => {
    await expect(devices({ ...device, active_from }).execute()).rejects.toThrow('another type (active_from)')
  },
)
