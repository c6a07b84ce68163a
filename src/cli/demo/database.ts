import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import type { Processes } from './processes.ts'

/** The folder of Debian with a folder for each version. It is not in the PATH. */
const debianFolder = '/usr/lib/postgresql'

const versionsIn = (folder: string): string[] =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(folder, version, 'bin'))

/** The folder of the programs of PostgreSQL: the newest of Debian, otherwise the first in the PATH. */
export const findPrograms = ({ PATH = '' }: Env, versions = debianFolder): string => {
  const folder = [...versionsIn(versions), ...PATH.split(delimiter)].find(
    (bin) => bin !== '' && existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')),
  )
  if (folder !== undefined) return folder
  throw new SvcError('failed', 'no_postgresql', 'svc demo --nodes requires PostgreSQL, which was not found', {
    detail: `The programs initdb and postgres are neither in the PATH nor in ${versions}.`,
    hint:
      'Debian and Ubuntu: apt install postgresql. Fedora: dnf install postgresql-server. macOS: brew install postgresql\n' +
      '      Without PostgreSQL: svc demo',
  })
}

/** PostgreSQL refuses to run as root. */
const nobody = { uid: 65_534, gid: 65_534 }

/** Starts PostgreSQL in a folder, on a socket in it and on no port. Returns the URL for svc. */
export const startDatabase = async (folder: string, env: Env, processes: Processes): Promise<string> => {
  const bin = findPrograms(env)
  const data = join(folder, 'db')
  mkdirSync(data, { mode: 0o700 })
  const user = process.getuid?.() === 0 ? nobody : undefined
  if (user) {
    chmodSync(folder, 0o711)
    chownSync(data, user.uid, user.gid)
  }
  const start = (name: string, args: string[]) =>
    processes.start('PostgreSQL', join(bin, name), args, { ...user, env: { LC_ALL: 'C' }, endsBy: 'SIGQUIT' })
  // Without passwords: only this user gets into the folder of the socket.
  const created = start('initdb', ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--locale=C'])
  await created.printed(/Success/).catch((error: SvcError) => {
    if (!user || error.exit === 'interrupted') throw error
    throw error.with({
      hint: `As root, svc runs PostgreSQL as the user ${user.uid}, who must be able to enter ${dirname(folder)}: set TMPDIR`,
    })
  })
  await start('postgres', ['-D', data, '-c', 'listen_addresses=', '-k', data]).printed(/ready to accept/)
  return `postgres://svc@${encodeURIComponent(data)}/postgres`
}
