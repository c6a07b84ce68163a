import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'

let database: string
let client: pg.Client
beforeEach(async () => {
  database = await copyDatabase('template0')
  client = new pg.Client({ connectionString: databaseUrl(database) })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await dropDatabase(database)
})

/** Creating the table of approvals takes longer than the limits of this database, which each new connection gets. */
const makeSlow = async (): Promise<void> => {
  for (const limit of ['statement_timeout', 'lock_timeout'])
    await client.query(`alter database ${database} set ${limit} = '500ms'`)
  await client.query(`
    create schema watch;
    create table watch.slow (application text);
    create function watch.wait() returns event_trigger language plpgsql as $$
      begin
        if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'public.approvals') then
          perform pg_sleep(0.7);
          insert into watch.slow values (current_setting('application_name'));
        end if;
      end $$;
    create event trigger watch on ddl_command_end when tag in ('CREATE TABLE') execute function watch.wait();
  `)
}

test('a migration may take longer than a statement of a request', async () => {
  await makeSlow()
  const storage = await openPostgres({ url: databaseUrl(database) })
  await storage.close()
  const { rows } = await client.query('select application from watch.slow')
  // Not on a connection of the pools, whose limits end a statement after ten seconds.
  expect(rows).toEqual([{ application: 'svc maintenance' }])
})

test('a node waits for the migration of another one', async () => {
  await makeSlow()
  const stores = await Promise.all([1, 2, 3].map(() => openPostgres({ url: databaseUrl(database) })))
  await Promise.all(stores.map((storage) => storage.close()))
  expect((await client.query('select * from watch.slow')).rows).toHaveLength(1)
})
