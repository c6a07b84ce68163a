import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import { auditByService } from '../../../../src/service/call/audit.ts'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import type { Storage } from '../../../../src/service/storage/storage.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'

// The row of the audit is not awaited, so the database answers the next statement, or the commit, when it refuses that row.

let database: string
let storage: Storage
beforeEach(async () => {
  database = await copyDatabase('svc_template')
  storage = await openPostgres({ url: databaseUrl(database) })
})
afterEach(async () => {
  await storage.close()
  await dropDatabase(database)
})

const at = '2030-01-31T12:00:00.000Z'

/** The audit refuses every row with this code; `once`, only the first. */
const refuseRows = (code: string, once = false) =>
  storage.write(
    async (db) => {
      await sql.raw('create sequence refusals').execute(db)
      await sql
        .raw(
          `create function refuse() returns trigger language plpgsql as $$ begin
            if ${once ? `nextval('refusals') = 1` : 'true'} then raise exception 'no' using errcode = '${code}'; end if;
            return new; end $$`,
        )
        .execute(db)
      await sql
        .raw('create trigger refuse before insert on audit for each row execute function refuse()')
        .execute(db)
    },
    { org: null },
  )

const change = (name: string, org: number, later: boolean) =>
  storage.write(
    async (db) => {
      await auditByService({ db }, at, { orgId: org, action: 'createUser', subject: name })
      if (later) await db.insertInto('settings').values({ name, value: '' }).execute()
    },
    { org },
  )

const unavailable = { status: 503, code: 'storage_unavailable', cause: { code: '53100' } }

test.each([true, false])(
  'a full disk at the audit is unavailable, with a statement after it: %s',
  async (later) => {
    await refuseRows('53100')
    await expect(change('alone', 1, later)).rejects.toMatchObject(unavailable)
    const many = Array.from({ length: 40 }, (_, n) => change(`many-${n}`, n % 3, later))
    for (const result of await Promise.allSettled(many))
      expect(result).toMatchObject({ status: 'rejected', reason: unavailable })
  },
)

test.each(['28P01', '3D000', '42501'])('an account without access is no mistake of svc: %s', async (code) => {
  await refuseRows(code)
  await expect(change('refused', 1, false)).rejects.toMatchObject({
    status: 503,
    code: 'storage_unavailable',
  })
})

test('a conflict at the audit runs the write again', async () => {
  await refuseRows('40001', true)
  await change('again', 1, true)
  const rows = await storage.read((db) =>
    db.selectFrom('settings').where('name', '=', 'again').select('name').execute(),
  )
  expect(rows).toHaveLength(1)
})

test('writes that wait for one lock are refused together, not one after the other', async () => {
  const holder = new pg.Client({ connectionString: databaseUrl(database) })
  await holder.connect()
  try {
    await holder.query('begin; lock table settings in share mode')
    const began = performance.now()
    const writes = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => change(`w${n}`, 1, true)))
    for (const result of writes)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } })
    // One waits five seconds alone, and the others while the first of them does.
    expect(performance.now() - began).toBeLessThan(20_000)
    await holder.query('rollback')
    await change('after', 1, true)
  } finally {
    await holder.end()
  }
}, 60_000)
