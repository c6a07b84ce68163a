import { userInfo } from 'node:os'
import { failure } from '../../core/errors.ts'
import type { Env } from '../../core/env.ts'
import { parseJson } from '../../core/parse-json.ts'
import { isRecord } from '../../core/is-record.ts'
import { configPath, parseConfig, type GuardConfig } from './config.ts'
import { readRootFile } from './root-file.ts'

/** Variables with which the caller could load code into Node or into the loader, or change whom it trusts. */
const harmful =
  /^(?:NODE_(?!ENV$)|LD_|OPENSSL_|SSL_CERT_|DYLD_)|^(?:GCONV_PATH|GLIBC_TUNABLES|LOCPATH|BASH_ENV)$/

export const harmfulNames = (env: Env): string[] =>
  Object.keys(env)
    .filter((name) => harmful.test(name) && env[name] !== undefined && env[name] !== '')
    .toSorted()

/** Refuses an environment that was not cleaned. Such code may run already, so the real protection is what starts svc. */
export const requireCleanEnvironment = (env: Env): void => {
  const [first, ...more] = harmfulNames(env)
  if (first === undefined) return
  throw failure(
    'guard_environment',
    `The environment contains ${[first, ...more].join(', ')}, which can change what svc does: nothing was run`,
    'Start the guard as svc guard check prints it. sudo needs env_reset, sshd an AcceptEnv without these names',
  )
}

/** The account of this process, from the user database and not from HOME or USER. */
export const ownAccount = (): { name: string; home: string; shell: string } => {
  const { username, homedir, shell } = userInfo()
  return { name: username, home: homedir, shell: shell ?? '/bin/sh' }
}

/** The key set in a file. Throws if it has no key. */
export const readKeySet = (path: string): { keys: unknown[] } => {
  const value = parseJson(readRootFile(path, { what: 'key set' }))
  if (isRecord(value) && Array.isArray(value.keys) && value.keys.length > 0)
    return { ...value, keys: value.keys }
  throw failure(
    'guard_file',
    `${path} is not a key set with at least one key`,
    'Save /.well-known/jwks.json of the service in it',
  )
}

export const readConfig = (): GuardConfig =>
  parseConfig(readRootFile(configPath, { what: 'configuration' }), configPath)
