import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { appendFileSync, chownSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { temporaryFolder } from '../../temporary-folder.ts'

const binaries = (): string => {
  const versions = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))
  return `/usr/lib/postgresql/${versions[0]}/bin`
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** PostgreSQL does not run as root. */
const asUser = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

export type PostgresServer = {
  url(database: string): string
  port: number
  stop(): void
  process: ChildProcess
}

/** A PostgreSQL of its own in a temporary folder. `durable`: with fsync, as in production. */
export const startPostgres = async ({ durable = false, settings = '' } = {}): Promise<PostgresServer> => {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  mkdirSync(data)
  if (asUser.uid !== undefined)
    for (const path of [folder.path, data]) chownSync(path, asUser.uid, asUser.gid)
  const bin = binaries()
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...asUser,
    cwd: folder.path,
    stdio: 'pipe',
  })
  const port = await freePort()
  appendFileSync(
    join(data, 'postgresql.conf'),
    `listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
max_connections = 400
${durable ? '' : 'fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nautovacuum = off\n'}${settings}\n`,
  )
  const server = spawn(join(bin, 'postgres'), ['-D', data], {
    ...asUser,
    cwd: folder.path,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    let log = ''
    server.stderr!.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (log.includes('ready to accept connections')) resolve()
    })
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)))
  })
  server.stderr!.resume()
  server.unref()
  return {
    port,
    process: server,
    url: (database) => `postgres://svc@127.0.0.1:${port}/${database}`,
    stop: () => {
      server.kill('SIGINT')
      server.once('exit', folder.remove)
    },
  }
}
