import { usageError } from '../../core/errors.ts'
import type { Env } from '../../core/env.ts'
import { shellWord } from '../../core/shell-word.ts'

/** What a program needs to run as its user: where things are, how to print, which language and time. */
const usual = new Set(
  [
    ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'CI'],
    ['TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'COLUMNS', 'LINES'],
    ['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
    ['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'USERPROFILE', 'USERNAME', 'APPDATA'],
    ['LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES', 'HOMEDRIVE', 'HOMEPATH'],
  ].flat(),
)

const isUsual = (name: string): boolean => usual.has(name.toUpperCase()) || name.startsWith('LC_')

/** Credentials of svc, which no command gets: who has them could ask, or answer, in its place. */
const isOwn = (name: string): boolean => /^(?:SVC_|MCP_AUTH_TOKEN$)/i.test(name)

export type ChildEnvironment = {
  env: Record<string, string>
  /** Names of what is passed on as it is, in order. */
  passed: string[]
  /** What --env sets. */
  set: Record<string, string>
}

/**
 * The environment of a command: an allow-list, and what --env adds by name or sets to a value. Fails with a usage error for
 * a credential of svc, and for a name that is not set.
 */
export const childEnvironment = (env: Env, added: readonly string[] = []): ChildEnvironment => {
  const names = new Set(
    Object.keys(env).filter((name) => env[name] !== undefined && isUsual(name) && !isOwn(name)),
  )
  const set: Record<string, string> = {}
  for (const entry of added) {
    const [, name, value] = /^([^=]+)(?:=([^]*))?$/.exec(entry) ?? []
    if (name === undefined) throw usageError(`--env must be NAME or NAME=VALUE, not "${entry}"`)
    if (isOwn(name))
      throw usageError(
        `--env: the command does not get ${name}, as credentials and settings of svc stay with svc`,
      )
    if (value !== undefined) set[name] = value
    else if (env[name] === undefined)
      throw usageError(`--env: ${name} is not set`, `--env ${shellWord(`${name}=VALUE`)}`)
    else names.add(name)
  }
  const passed = [...names].filter((name) => !Object.hasOwn(set, name)).toSorted()
  return { env: { ...Object.fromEntries(passed.map((name) => [name, env[name]!])), ...set }, passed, set }
}
