import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findPort } from '../../free-port.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

/** The folder of the programs of PostgreSQL. */
export const findPrograms = (): string => {
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(b) - Number(a)) : []
  const bin = versions
    .map((version) => join(folder, version, 'bin'))
    .find((path) => existsSync(join(path, 'initdb')))
  if (bin === undefined)
    throw new Error(
      `PostgreSQL is not installed: ${folder} has no initdb. On Debian: apt-get install postgresql`,
    )
  return bin
}

/** PostgreSQL does not run as root. */
export const asUser = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

export type PostgresServer = {
  url(database: string): string
  port: number
  stop(): void
  process: ChildProcess
  /** Ends it without a checkpoint, at once, and resolves after its end. SIGKILL leaves its children to notice that. */
  crash(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void>
  /** Starts it again after a crash; resolves when it accepts connections. */
  restart(): Promise<void>
}

/** Runs the server of a data folder; resolves when it accepts connections. */
export const runPostgres = async (folder: string): Promise<ChildProcess> => {
  const server = spawn(join(findPrograms(), 'postgres'), ['-D', join(folder, 'data')], {
    ...asUser,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    let log = ''
    server.stderr!.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (/ready to accept (?:read-only )?connections/.test(log)) resolve()
    })
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)))
  })
  server.stderr!.resume()
  server.unref()
  return server
}

/** The children of a killed server may still use its memory. */
const startAttempts = 100

export const superviseFolder = async (
  { path, remove }: ReturnType<typeof temporaryFolder>,
  port: number,
): Promise<PostgresServer> => {
  let server = await runPostgres(path)
  return {
    port,
    get process() {
      return server
    },
    url: (database) => `postgres://svc@127.0.0.1:${port}/${database}`,
    stop: () => {
      if (server.exitCode !== null || server.signalCode !== null) return remove()
      server.once('exit', remove)
      server.kill('SIGINT')
    },
    crash: async (signal) => {
      const ended = once(server, 'exit')
      server.kill(signal)
      await ended
    },
    restart: async () => {
      for (let left = startAttempts; ; left -= 1)
        try {
          server = await runPostgres(path)
          return
        } catch (error) {
          if (left === 0) throw error
          await pause(50)
        }
    },
  }
}

/** A PostgreSQL of its own in a temporary folder. `durable`: with fsync, as in production. */
export const startPostgres = async ({ durable = false, settings = '' } = {}): Promise<PostgresServer> => {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  mkdirSync(data)
  if (asUser.uid !== undefined)
    for (const path of [folder.path, data]) chownSync(path, asUser.uid, asUser.gid)
  const bin = findPrograms()
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...asUser,
    cwd: folder.path,
    stdio: 'pipe',
  })
  const port = await findPort()
  appendFileSync(
    join(data, 'postgresql.conf'),
    `listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
max_connections = 400
${durable ? '' : 'fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nautovacuum = off\n'}${settings}\n`,
  )
  return superviseFolder(folder, port)
}
