import { lstatSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isForeign, isOpenTo, readChecked } from '../../core/checked-file.ts'
import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Io } from '../terminal/io.ts'
import { profileName } from './profile-store.ts'

// A file that a repository may bring along: it names one of the profiles that the user has made, and no more.

const fileName = '.svcrc'
const mostBytes = 4096
const example = '"profile: NAME"'
const wayOut = '--profile NAME or SVC_PROFILE overrides it'

const refused = (path: string, what: string, mend?: string): Error =>
  usageError(`${safeLine(path)} ${what}`, mend === undefined ? wayOut : `${mend}; ${wayOut}`)

/** In a folder that is shared, somebody else could choose where a command goes. */
const check = (stats: Stats, path: string): void => {
  if (!stats.isFile())
    throw refused(path, 'is not a regular file', `mv ${shellQuote(path)} ${shellQuote(`${path}.odd`)}`)
  if (isForeign(stats))
    throw refused(
      path,
      'belongs to another user, so it does not choose your profile',
      `sudo chown "$(id -un)" ${shellQuote(path)}`,
    )
  if (isOpenTo(stats, 0o022))
    throw refused(
      path,
      'can be written by others, so it does not choose your profile',
      `chmod go-w ${shellQuote(path)}`,
    )
  if (stats.size > mostBytes) throw refused(path, `is too long: it must contain one line, ${example}`)
}

/** Keys of services, tokens and the like are longer than a name, or start as ours do. */
const looksSecret = (text: string): boolean => /^(?:svc_|eyJ)/.test(text) || text.length > 40

/** The name in it. What is wrong is told without what is written there: it may be a secret. */
const nameIn = (text: string, path: string): string => {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line) => line.trim())
  const [line = '', ...more] = lines.filter((one) => one !== '' && !one.startsWith('#'))
  for (const one of [line, ...more]) {
    const field = /^["']?([\w.-]{1,40})["']?\s*[:=]/.exec(one)?.[1]
    if (field !== undefined && /key|token|secret|passw|bearer|credential/i.test(field))
      throw refused(
        path,
        `contains ${field}: it can only name a profile, never a secret`,
        'remove the line, and save the key with svc profile login',
      )
    if (field !== undefined && field !== 'profile')
      throw refused(path, `contains ${field}, which svc does not know: it must contain one line, ${example}`)
  }
  const name = /^profile\s*:\s*(\S.*)$/.exec(line)?.[1]
  if (name === undefined || more.length > 0) throw refused(path, `must contain one line, ${example}`)
  if (looksSecret(name))
    throw refused(
      path,
      'contains what looks like a secret: it can only name a profile',
      'remove it, and save the key with svc profile login',
    )
  if (!profileName.test(name)) throw refused(path, `does not contain a valid profile name: it must contain one line, ${example}`)
  return name
}

const find = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // A folder above that we may not look into.
    return undefined
  }
}

/** The nearest .svcrc in this folder or above it, up to the home folder; fails where it cannot be trusted. */
export const findSvcrc = ({
  cwd,
  env,
}: Pick<Io, 'cwd' | 'env'>): { path: string; name: string } | undefined => {
  const home = resolve(env['HOME'] || homedir())
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const path = join(dir, fileName)
    const stats = find(path)
    if (stats) {
      check(stats, path)
      return {
        path,
        name: nameIn(
          readChecked(path, (opened) => check(opened, path)),
          path,
        ),
      }
    }
    if (dir === home || dir === dirname(dir)) return undefined
  }
}
