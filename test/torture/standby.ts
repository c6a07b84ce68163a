import { execFile } from 'node:child_process'
import { appendFileSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import {
  asUser,
  findPrograms,
  type PostgresServer,
  superviseFolder,
} from '../service/storage/postgres-server.ts'
import { findPort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** A standby that replicates from this address, which can be that of a proxy. */
export const startStandby = async (primaryUrl: string): Promise<PostgresServer> => {
  const folder = temporaryFolder()
  if (asUser.uid !== undefined) chownSync(folder.path, asUser.uid, asUser.gid)
  const data = join(folder.path, 'data')
  const { port: primaryPort } = new URL(primaryUrl)
  // The proxy may run in this process, which therefore must not be blocked.
  await promisify(execFile)(
    join(findPrograms(), 'pg_basebackup'),
    ['-h', '127.0.0.1', '-p', primaryPort, '-U', 'svc', '-D', data, '-R', '--checkpoint=fast', '--no-sync'],
    { ...asUser, cwd: folder.path },
  )
  const port = await findPort()
  appendFileSync(join(data, 'postgresql.conf'), `port = ${port}\nhot_standby = on\n`)
  return superviseFolder(folder, port)
}

/** Runs SQL on a server as its owner. */
export const query = async (server: PostgresServer, sql: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: server.url('postgres') })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
