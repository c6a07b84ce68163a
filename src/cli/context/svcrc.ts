import { lstatSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isForeign, isOpenTo, readChecked } from '../../core/checked-file.ts'
import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Io } from '../terminal/io.ts'
import { profileName } from './profile-store.ts'

// A file that a repository may contain. It can only name an existing profile of the user.

const fileName = '.svcrc'
const mostBytes = 4096
const example = '"profile: NAME"'
const overrideHint = '--profile NAME or SVC_PROFILE overrides it'

const refused = (path: string, what: string, correction?: string): Error =>
  usageError(
    `${safeLine(path)} ${what}`,
    correction === undefined ? overrideHint : `${correction}; ${overrideHint}`,
  )

/** In a shared folder, another user could choose the service that a command goes to. */
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

/** Keys and tokens are longer than a name, or start like ours. */
const looksSecret = (text: string): boolean => /^(?:svc_|eyJ)/.test(text) || text.length > 40

/** The profile name in the file. Errors do not repeat its content, which may be a secret. */
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
  if (!profileName.test(name))
    throw refused(path, `does not contain a valid profile name: it must contain one line, ${example}`)
  return name
}

const find = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // A parent folder that is not readable.
    return undefined
  }
}

/** The nearest .svcrc in this folder or above it, up to the home folder. Throws if it cannot be trusted. */
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
      const text = readChecked(path, (opened) => check(opened, path))
      return { path, name: nameIn(text, path) }
    }
    if (dir === home || dir === dirname(dir)) return undefined
  }
}
