import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Io } from '../terminal/io.ts'
import { checkPrivateFolder, configDir, readPrivate } from './private-file.ts'

type Values = { text: string; flag: boolean; words: string[] }
type Kind = keyof Values

/** One service and how to reach it. Each secret is saved with the only origin that it is sent to. */
const profileFields = {
  base_url: 'text',
  mcp_url: 'text',
  api_key: 'text',
  api_key_origin: 'text',
  mcp_token: 'text',
  mcp_token_origin: 'text',
  /** Prints the API key on stdout; run without a shell. */
  credential_command: 'words',
  /** Requests approvals instead of the API key. */
  ask_key: 'text',
  ask_key_origin: 'text',
  /** Prints that key, as `credential_command` does. */
  ask_credential_command: 'words',
  /** Of a person who signs in: identifies this profile to the service. */
  installation: 'text',
  /** Who that was last: their keys do not replace those of somebody else. */
  person: 'text',
  org: 'text',
  default_mobile: 'text',
  default_factors: 'text',
  request_from: 'text',
  cacert: 'text',
  protected: 'flag',
  /** The data folder of the service that created this profile. */
  data_dir: 'text',
  require_approval: 'words',
} as const satisfies Record<string, Kind>

type ProfileFields = typeof profileFields
export type Profile = { -readonly [Field in keyof ProfileFields]?: Values[ProfileFields[Field]] }
export type ProfileFile = { version: 1; current?: string | undefined; profiles: Record<string, Profile> }

const nouns: Record<Kind, string> = { text: 'text', flag: 'true or false', words: 'a list of text' }

const fits: Record<Kind, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  words: (value) => Array.isArray(value) && value.every((word) => typeof word === 'string'),
}

/** Starts with a letter or digit, so that a name cannot be a flag or `__proto__`. */
export const profileName = /^[a-z0-9][\w.-]{0,62}$/i

const wrongIn = (file: unknown): string | undefined => {
  if (!isRecord(file)) return 'it must contain an object'
  if (file['version'] !== 1) return '"version" must be 1'
  if (file['current'] !== undefined && typeof file['current'] !== 'string') return '"current" must be text'
  if (!isRecord(file['profiles'])) return '"profiles" must be an object'
  for (const [name, profile] of Object.entries(file['profiles'])) {
    if (!profileName.test(name)) return `"${name}" is not a valid profile name`
    if (!isRecord(profile)) return `profile "${name}" must be an object`
    for (const [field, kind] of Object.entries(profileFields))
      if (Object.hasOwn(profile, field) && !fits[kind](profile[field]))
        return `"${field}" of profile "${name}" must be ${nouns[kind]}`
  }
  return undefined
}

/** The profiles in this text, including unknown fields. Throws an error with the problem and how to correct it. */
const parseProfiles = (text: string, path: string): ProfileFile => {
  const file = parseJson(text)
  const wrong = file === undefined ? 'it is not valid JSON' : wrongIn(file)
  if (wrong === undefined) return file as ProfileFile
  throw new SvcError('failed', 'profile_file', `The profile file ${path} cannot be used: ${wrong}`, {
    hint: `Repair it, or move it away: mv '${path}' '${path}.broken'`,
  })
}

const name = 'profiles'
/** The names of the temporary files of `conf`. */
const leftover = /^profiles\.json\.tmp-\d{10}[0-9a-f]{6}$/

const sweep = (dir: string): void => {
  for (const entry of readdirSync(dir)) if (leftover.test(entry)) rmSync(join(dir, entry), { force: true })
}

/** The profile file. Every command reads it, so `conf` and the lock are loaded only to write. */
export const createStore = (io: Pick<Io, 'env' | 'cwd'>) => {
  const dir = configDir(io)
  const path = join(dir, `${name}.json`)

  /** Throws an SvcError with a correction if the file is open to others, a link or not valid. */
  const read = (): ProfileFile => {
    const text = readPrivate(path)
    return text === undefined ? { version: 1, profiles: {} } : parseProfiles(text, path)
  }

  const write = async (change: (file: ProfileFile) => void): Promise<void> => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    checkPrivateFolder(dir)
    chmodSync(dir, 0o700)
    const { default: Conf } = await import('conf')
    const { acquireLock } = await import('./profile-lock.ts')
    const save = (file: ProfileFile): void => {
      const conf = new Conf<ProfileFile>({
        cwd: dir,
        configName: name,
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        serialize: (value) => `${JSON.stringify(value, null, 2)}\n`,
      })
      conf.store = file
    }
    for (let attempts = 0; attempts < 5; attempts++) {
      const lock = await acquireLock(path)
      try {
        sweep(dir)
        const file = read()
        change(file)
        if (lock.mine()) return save(file)
      } finally {
        lock.release()
      }
    }
    throw new SvcError('failed', 'profile_locked', `The lock of ${path} was lost five times`, {
      hint: 'This machine is very busy. Try again',
    })
  }

  /** Reads, changes and writes under a lock. `change` may run again, so it must do nothing else. */
  const update = (change: (file: ProfileFile) => void): Promise<void> =>
    write(change).catch((error: unknown) => {
      const { code, syscall } = error as NodeJS.ErrnoException
      if (syscall === undefined) throw error
      throw new SvcError('failed', 'file', `Cannot write the profiles in ${safeLine(dir)} (${code})`, {
        hint: 'Make the folder writable, or set SVC_CONFIG_DIR to another folder',
        cause: error,
      })
    })

  return { path, read, update }
}
