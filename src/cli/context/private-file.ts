import { lstatSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { homedir } from 'node:os'
import { isForeign, isOpenTo, readChecked } from '../../core/checked-file.ts'
import { SvcError } from '../../core/errors.ts'
import { quoted } from '../../core/shell-quote.ts'
import type { Io } from '../terminal/io.ts'

/** SVC_CONFIG_DIR, or `svc` in the configuration folder of the platform. XDG says to ignore a relative XDG_CONFIG_HOME. */
export const configDir = ({ env, cwd }: Pick<Io, 'env' | 'cwd'>): string => {
  if (env['SVC_CONFIG_DIR']) return resolve(cwd, env['SVC_CONFIG_DIR'])
  const xdg = env['XDG_CONFIG_HOME']
  if (xdg && isAbsolute(xdg)) return join(xdg, 'svc')
  if (process.platform === 'win32' && env['APPDATA']) return join(env['APPDATA'], 'svc')
  return join(env['HOME'] || homedir(), '.config', 'svc')
}

const refused = (message: string, hint: string): SvcError =>
  new SvcError('failed', 'profile_file', message, { hint })

const lstat = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false })

const checkOwner = (stats: Stats, path: string): void => {
  if (isForeign(stats))
    throw refused(`${path} belongs to another user`, `sudo chown "$(id -un)" ${quoted(path)}`)
}

/** Throws if the folder is a link, belongs to another user, or others can write to it. False if it does not exist. */
export const checkPrivateFolder = (dir: string): boolean => {
  const stats = lstat(dir)
  if (!stats) return false
  if (stats.isSymbolicLink())
    throw refused(
      `The folder ${dir} is a symbolic link, so svc does not save secrets in it`,
      `export SVC_CONFIG_DIR="$(realpath ${quoted(dir)})"`,
    )
  if (!stats.isDirectory()) throw refused(`${dir} is not a folder`, 'Choose another one with SVC_CONFIG_DIR')
  checkOwner(stats, dir)
  if (isOpenTo(stats, 0o022))
    throw refused(`Others can write to the folder ${dir}`, `chmod 700 ${quoted(dir)}`)
  return true
}

const checkFile = (stats: Stats, path: string, what: string): void => {
  if (!stats.isFile())
    throw refused(`${path} is not a regular file`, `mv ${quoted(path)} ${quoted(`${path}.odd`)}`)
  checkOwner(stats, path)
  if (isOpenTo(stats, 0o077))
    throw refused(`Others can read the ${what} ${path}`, `chmod 600 ${quoted(path)}`)
}

/**
 * The text of a file with secrets, named `what` in errors; undefined if it does not exist. Refuses a link, anything but a
 * regular file, a file of another user, and one that others can read, each with the command that corrects it.
 */
export const readPrivate = (path: string, what = 'profile file'): string | undefined => {
  if (!checkPrivateFolder(dirname(path))) return undefined
  const stats = lstat(path)
  if (!stats) return undefined
  if (stats.isSymbolicLink())
    throw refused(
      `The ${what} ${path} is a symbolic link`,
      `cp --remove-destination "$(realpath ${quoted(path)})" ${quoted(path)} && chmod 600 ${quoted(path)}`,
    )
  checkFile(stats, path, what)
  // Check the open file again, in case it was replaced after the first check.
  return readChecked(path, (opened) => checkFile(opened, path, what))
}
