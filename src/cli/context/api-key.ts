import type { EnvName } from '../../core/env.ts'
import { checkKey, requirePrivateWay, type Noun } from '../../client/key-check.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Io, Run } from '../terminal/io.ts'
import { readText } from '../terminal/input-file.ts'
import { defaultBaseUrl, originOf } from '../../client/address.ts'
import { createStore, type Profile } from './profile-store.ts'

export type Source = 'flag' | 'environment' | 'profile' | 'default'

/** Where the key of this run comes from; read when needed. svc sends it only to `origin`. */
export type KeySource = {
  where: string
  source: Source
  /** The source for a person to read; `mask` hides a secret. */
  shown(mask: (secret: string) => string): string
  origin?: string
  /** What to do if the service does not accept this key. */
  remedy?: string | undefined
  read(): Promise<string>
  /** As it is now, if it can change during the run: a sign-in renews it. */
  renewed?(): string | undefined
}

export const fileSource = (file: string, io: Io): KeySource => ({
  where: file === '-' ? 'on standard input' : `in ${file}`,
  source: 'flag',
  shown: () => `in ${file}`,
  remedy: `Check the key that --key-file ${shellQuote(file)} reads`,
  read: async () => {
    if (file === '-' && io.stdin.isTTY)
      throw usageError('--key-file - reads standard input: pipe the key into it')
    return (await readText(file, io, '--key-file', { secret: true })).trim()
  },
})

const envSource = (name: EnvName, key: string, remedy?: string): KeySource => ({
  where: `in ${name}`,
  source: 'environment',
  shown: (mask) => mask(key),
  remedy,
  read: async () => key,
})

/** The secrets of a profile: their fields, the variable that replaces them, and the flag that saves them. */
export const slots = {
  'API key': { key: 'api_key', command: 'credential_command', variable: 'SVC_API_KEY', flags: '' },
  'ask key': { key: 'ask_key', command: 'ask_credential_command', variable: 'SVC_ASK_KEY', flags: ' --ask' },
  bearer: { key: 'mcp_token', command: undefined, variable: 'MCP_AUTH_TOKEN', flags: ' --bearer' },
} as const

export const loginTo = (profileName: string, noun: Noun): string =>
  `svc profile login ${shellQuote(profileName)}${slots[noun].flags}`

/** The secret of a profile: its command before what is saved, which svc sends only to the origin for which it was saved. */
const savedSource = (io: Io, profile: Profile, profileName: string, noun: Noun): KeySource | undefined => {
  const { key, command: field } = slots[noun]
  const [saved, savedFor] = [profile[key], profile[`${key}_origin`]]
  const command = field && profile[field]
  if (command && command.length > 0)
    return {
      where: `that ${command[0]} prints`,
      source: 'profile',
      shown: () => `that ${command[0]} prints`,
      origin: savedFor ?? originOf(profile.base_url ?? defaultBaseUrl) ?? 'nowhere',
      remedy: `Check what the ${field} of profile ${profileName} prints: svc profile show ${shellQuote(profileName)}`,
      read: async () =>
        (await import('./credential-command.ts')).runCredentialCommand(command, { profileName, field }, io),
    }
  if (saved === undefined) return undefined
  // Nothing is sent to `nowhere`.
  const origin = savedFor ?? 'nowhere'
  return {
    where: 'in the profile',
    source: 'profile',
    shown: (mask) => `${mask(saved)} for ${origin}`,
    origin,
    // A sign-in saves its key as one that asks.
    remedy: loginTo(profileName, profile.installation === undefined ? noun : 'API key'),
    read: async () => saved,
    renewed: () => {
      const now = createStore(io).read().profiles[profileName]
      return now?.[`${key}_origin`] === origin && now.person === profile.person ? now[key] : undefined
    },
  }
}

/** --key-file, then SVC_API_KEY, then the profile. */
export const keySource = ({ io, globals }: Run, profile: Profile, profileName: string) => {
  const inEnv = io.env['SVC_API_KEY']
  const login = loginTo(profileName, 'API key')
  if (globals.keyFile !== undefined) return fileSource(globals.keyFile, io)
  if (inEnv)
    return envSource('SVC_API_KEY', inEnv, `Correct SVC_API_KEY, or unset it and sign in with "${login}"`)
  return savedSource(io, profile, profileName, 'API key')
}

/**
 * The ask key, which requests approvals: SVC_ASK_KEY, then the profile. Undefined if --key-file or SVC_API_KEY sets the
 * key of this run, which then does everything.
 */
export const askKeySource = ({ io, globals }: Run, profile: Profile, profileName: string) => {
  if (globals.keyFile !== undefined) return undefined
  const inEnv = io.env['SVC_ASK_KEY']
  if (inEnv) return envSource('SVC_ASK_KEY', inEnv, 'Correct SVC_ASK_KEY, or unset it')
  return io.env['SVC_API_KEY'] ? undefined : savedSource(io, profile, profileName, 'ask key')
}

/** MCP_AUTH_TOKEN, then the profile. */
export const bearerSource = (io: Io, profile: Profile, profileName: string): KeySource | undefined => {
  const inEnv = io.env['MCP_AUTH_TOKEN']
  if (inEnv) return envSource('MCP_AUTH_TOKEN', inEnv)
  return savedSource(io, profile, profileName, 'bearer')
}

/** How to get a secret for this origin. */
const originHint = (noun: Noun, profileName: string, origin: string): string =>
  noun === 'API key'
    ? `${loginTo(profileName, noun)}, or pass a key for ${origin} with --key-file`
    : `${loginTo(profileName, noun)}, or set ${slots[noun].variable} to ${noun === 'bearer' ? 'a bearer' : 'a key'} for ${origin}`

/**
 * Returns a function that reads the key once per run and checks the address that it is for. `refused`: a key that was accepted
 * before, and is not any more.
 */
export const createKeyReader = (
  source: Pick<KeySource, 'where' | 'origin' | 'read' | 'renewed'> | undefined,
  profileName: string,
  noun: Noun = 'API key',
) => {
  let key: Promise<string> | undefined
  return async (address: string, refused?: string): Promise<string | undefined> => {
    if (!source) return undefined
    const url = new URL(address)
    if (source.origin !== undefined && source.origin !== url.origin)
      throw new SvcError(
        'usage',
        'key_origin',
        `The ${noun === 'API key' ? 'key' : noun} of profile "${profileName}" was saved for ${source.origin} and is not sent to ${url.origin}`,
        { hint: originHint(noun, profileName, url.origin) },
      )
    requirePrivateWay(url, noun)
    const renewed = refused === undefined ? undefined : source.renewed?.()
    if (renewed !== undefined) key = Promise.resolve(checkKey(renewed, source.where, noun))
    return (key ??= source.read().then((text) => checkKey(text, source.where, noun)))
  }
}
