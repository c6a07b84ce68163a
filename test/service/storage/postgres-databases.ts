import { randomBytes } from 'node:crypto'
import pg from 'pg'

/**
 * Whether the tests of the service run on PostgreSQL: `npm run test:postgres`. The address of the server does not say so,
 * because every project of a run inherits it.
 */
export const onPostgres = (): boolean => process.env['SVC_TEST_STORE'] === 'postgres'

export const databaseUrl = (database: string): string => {
  const url = new URL(process.env['SVC_TEST_DATABASE_URL']!)
  url.pathname = database
  return url.href
}

const run = async (sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl('postgres') })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

export const createDatabase = (name: string): Promise<void> => run(`create database ${name}`)

/** A new database with the content of another one that nobody uses. */
export const copyDatabase = async (
  from: string,
  name = `svc_${randomBytes(8).toString('hex')}`,
): Promise<string> => {
  await run(`create database ${name} template ${from} strategy file_copy`)
  return name
}

export const dropDatabase = (name: string): Promise<void> => run(`drop database ${name} with (force)`)
