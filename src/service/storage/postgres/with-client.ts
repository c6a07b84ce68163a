import pg from 'pg'
import { connectionTo, types } from './connection.ts'
import type { DatabaseServer } from './database-url.ts'
import { asDatabaseProblem } from './problems.ts'

/** Runs `work` on a connection of its own, whose statements have no time limit: a migration may take longer than a request. */
export const withClient = async <T>(
  server: DatabaseServer,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({
    ...connectionTo(server),
    application_name: 'svc maintenance',
    ...(types && { types }),
  })
  // An error ends the query that runs, which reports it.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } catch (error) {
    throw asDatabaseProblem(server, error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** All of `work` or nothing. */
export const inTransaction = async <T>(
  client: pg.Client,
  begin: string,
  work: () => Promise<T>,
): Promise<T> => {
  await client.query(begin)
  try {
    const result = await work()
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') throw new Error('the database undid the transaction')
    return result
  } catch (error) {
    // The connection may be gone.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
