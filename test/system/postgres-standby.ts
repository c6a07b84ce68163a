import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findPort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { asUser, type PostgresServer } from '../service/storage/postgres-server.ts'

/** A standby that streams from `primary` under the name `standby`. */
export const startStandby = async (primary: PostgresServer): Promise<{ port: number; stop(): void }> => {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  mkdirSync(data)
  chmodSync(data, 0o700)
  if (asUser.uid !== undefined)
    for (const path of [folder.path, data]) chownSync(path, asUser.uid, asUser.gid)
  const [version] = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))
  const bin = `/usr/lib/postgresql/${version}/bin`
  const connection = `host=127.0.0.1 port=${primary.port} user=svc application_name=standby`
  execFileSync(join(bin, 'pg_basebackup'), ['-D', data, '-R', '-c', 'fast', '-d', connection], {
    ...asUser,
    cwd: folder.path,
    stdio: 'pipe',
  })
  const port = await findPort()
  appendFileSync(join(data, 'postgresql.conf'), `port = ${port}\n`)
  const server = spawn(join(bin, 'postgres'), ['-D', data], {
    ...asUser,
    cwd: folder.path,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    let log = ''
    server.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (log.includes('started streaming WAL')) resolve()
    })
    server.once('exit', () => reject(new Error(`The standby did not start: ${log}`)))
  })
  server.stderr.resume()
  server.unref()
  return {
    port,
    stop: () => {
      server.kill('SIGINT')
      server.once('exit', folder.remove)
    },
  }
}
