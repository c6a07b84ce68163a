import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import { readFacts } from '../../../../src/service/storage/postgres/facts.ts'
import type { Storage } from '../../../../src/service/storage/storage.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'

// Whoever owns the schema can add functions and operators to it, and set defaults for its users.

let database: string
let owner: pg.Client
let storage: Storage | undefined

beforeEach(async () => {
  database = await copyDatabase('template0')
  await (await openPostgres({ url: databaseUrl(database) })).close()
  owner = new pg.Client({ connectionString: databaseUrl(database) })
  await owner.connect()
})
afterEach(async () => {
  await storage?.close()
  storage = undefined
  await owner.end()
  await dropDatabase(database)
})

const open = async (): Promise<Storage> => (storage = await openPostgres({ url: databaseUrl(database) }))

const minuteMs = 60_000
const offBy = (at: string): number => Math.abs(Date.parse(at) - Date.now())

test('does not set the clock with an operator or a function', async () => {
  for (const type of ['float8', 'numeric', 'int8'])
    await owner.query(`create function no_${type}(a ${type}, b int4) returns ${type} language sql as 'select 0::${type}';
      create operator * (function = no_${type}, leftarg = ${type}, rightarg = int4)`)
  await owner.query(`create function float8mul(a float8, b int4) returns float8 language sql as 'select 0::float8';
    create function date_part(a text, b timestamptz) returns float8 language sql as 'select 0::float8'`)
  expect((await owner.query(`select 2::float8 * 3 as product`)).rows).toEqual([{ product: 0 }])
  expect(offBy((await open()).now())).toBeLessThan(minuteMs)
})

test('does not round the clock, or what is stored', async () => {
  await owner.query(`alter database "${database}" set extra_float_digits = -8`)
  const found = await open()
  expect(offBy(found.now())).toBeLessThan(minuteMs)
  const { rows } = await found.read((db) => sql`select 52.520006599988::float8 as latitude`.execute(db))
  expect(rows).toEqual([{ latitude: 52.520006599988 }])
})

test('does not hide a trigger from svc with a function', async () => {
  await owner.query(`create function probe() returns trigger language plpgsql as 'begin return new; end';
    create trigger probe before insert on ballots for each row execute function probe();
    create function to_regnamespace(name) returns regnamespace language sql as 'select null::regnamespace'`)
  expect((await owner.query(`select to_regnamespace(current_schema()) as found`)).rows).toEqual([
    { found: null },
  ])
  expect((await readFacts(owner)).between).toBe('trigger probe on ballots')
})
