import { lstatSync, readlinkSync, statfsSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { attempted } from '../../core/attempted.ts'
import { readChecked } from '../../core/checked-file.ts'
import { failure, SvcError } from '../../core/errors.ts'
import { quoted } from '../../core/shell-quote.ts'

// A guard trusts a file only if nobody but root can change it, or replace a folder on the way to it.

type Problem = { path: string; message: string; fix: string }

const writable = 0o022

const changeable = ({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, path: string): Problem | undefined => {
  if (uid !== 0)
    return { path, message: `${path} belongs to user ${uid}, not to root`, fix: `chown root ${quoted(path)}` }
  const sticky = 0o1000
  if ((mode & sticky) !== 0 && (mode & writable) !== 0)
    return {
      path,
      message: `Everybody can write to the folder ${path}`,
      fix: 'move the file to a folder that only root can write to',
    }
  if ((mode & writable) !== 0)
    return { path, message: `Others than root can write to ${path}`, fix: `chmod go-w ${quoted(path)}` }
  return undefined
}

const lookAt = (path: string): Stats | undefined => attempted(() => lstatSync(path))

const mostLinks = 40

/** File systems that keep what was written into them (magic.h of Linux): ext, XFS, Btrfs, ZFS, F2FS, tmpfs, ramfs, overlay, squashfs, EROFS. */
const stores = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x01021994, 0x858458f6, 0x794c7630, 0x73717368,
  0xe0f5e1e2,
])

/** Elsewhere, such as in /proc or /dev/pts, anybody can make what belongs to root; over a network, another machine can. */
const isStored = (path: string): boolean => stores.has(statfsSync(path).type)

/**
 * What lets somebody else than root change what this path leads to; undefined if nothing does. Follows links and `..` one by one
 * as the system does: `link/..` is the folder above the target of the link.
 */
export const changeableBy = (path: string, links = mostLinks): Problem | undefined => {
  const missing = { path, message: `${path} does not exist or cannot be read`, fix: `ls -ld ${quoted(path)}` }
  if (!isAbsolute(path) || links === 0) return missing
  let place = '/'
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  const root = changeable(lstatSync('/'), '/')
  if (root) return root
  for (const [at, part] of parts.entries()) {
    place = part === '..' ? dirname(place) : join(place, part)
    const stats = lookAt(place)
    if (!stats) return missing
    if (stats.isSymbolicLink()) {
      if (stats.uid !== 0) return changeable({ uid: stats.uid, mode: 0 }, place)
      // It leads to what the process has open, or sees, whatever its text says.
      if (!isStored(dirname(place)))
        return { path, message: `${path} leads through a process (${place})`, fix: 'name the file itself' }
      const target = readlinkSync(place)
      const from = isAbsolute(target) ? [target] : [dirname(place), target]
      return changeableBy([...from, ...parts.slice(at + 1)].join('/'), links - 1)
    }
    const found = changeable(stats, place)
    if (found) return found
  }
  return isStored(place)
    ? undefined
    : { path, message: `${path} is not in a file system of a disk`, fix: 'name a file that is' }
}

const refused = (message: string, hint: string): SvcError => failure('guard_file', message, hint)

const unsafe = (what: string, { message, fix }: Problem): SvcError =>
  refused(`The ${what} is not safe: ${message}`, `To fix, as root: ${fix}`)

const missing = (what: string, path: string): SvcError =>
  refused(`The ${what} ${path} does not exist`, 'svc guard check --help shows what a guard needs')

/** The folders on the way to a file, from the top. */
const above = (path: string): string[] => {
  const parent = dirname(path)
  return parent === path ? [path] : [...above(parent), parent]
}

const checkFolders = (path: string, what: string): void => {
  for (const folder of new Set(above(path))) {
    const stats = lookAt(folder)
    if (!stats) throw missing(what, path)
    if (stats.isSymbolicLink())
      throw refused(
        `The ${what} is not safe: the folder ${folder} is a symbolic link`,
        'Name the file by its real path: realpath FILE',
      )
    const found = changeable(stats, folder)
    if (found) throw unsafe(what, found)
  }
}

type Reading = {
  /** For errors: `configuration`, `ask key`. */
  what: string
  /** Nobody may read it but root and one group, so that a guard of another account can use it. */
  isSecret?: boolean
}

/**
 * The text of a file that only root can change. Refuses a link, anything but a regular file, and a file or folder that
 * somebody else could replace.
 */
export const readRootFile = (path: string, { what, isSecret = false }: Reading): string => {
  if (!isAbsolute(path) || resolve(path) !== path)
    throw refused(
      `The ${what} "${path}" is not an absolute path without "." and ".."`,
      'Write the whole path: /etc/svc/guard-keys.json',
    )
  checkFolders(path, what)
  const check = (stats: Stats): void => {
    if (!stats.isFile())
      throw refused(`The ${what} ${path} is not a regular file`, 'To fix, as root: replace it by a file')
    const found = changeable(stats, path)
    if (found) throw unsafe(what, found)
    if (isSecret && (stats.mode & 0o007) !== 0)
      throw unsafe(what, { path, message: `everybody can read ${path}`, fix: `chmod o= ${quoted(path)}` })
  }
  const stats = lookAt(path)
  if (!stats) throw missing(what, path)
  if (stats.isSymbolicLink())
    throw refused(`The ${what} ${path} is a symbolic link`, 'To fix, as root: replace it by the file itself')
  check(stats)
  try {
    return readChecked(path, check)
  } catch (error) {
    if (error instanceof SvcError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw refused(
      `The ${what} ${path} cannot be read (${code})`,
      isSecret
        ? `For an account other than root, as root: chgrp GROUP ${quoted(path)} && chmod 640 ${quoted(path)}`
        : `To fix, as root: chmod 644 ${quoted(path)}`,
    )
  }
}
