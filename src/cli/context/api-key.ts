import type { EnvName } from '../../core/env.ts'
import { checkKey, requirePrivateWay, type Noun } from '../../client/key-check.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Globals, Io } from '../terminal/io.ts'
import { readText } from '../terminal/input-file.ts'
import { defaultBaseUrl, originOf } from '../../client/address.ts'
import type { Profile } from './profile-store.ts'

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

/** A secret in the profile; svc sends it only to the origin for which it was saved. */
const profileSource = (key: string, origin = 'nowhere', remedy?: string): KeySource => ({
  where: 'in the profile',
  source: 'profile',
  shown: (mask) => `${mask(key)} for ${origin}`,
  origin,
  remedy,
  read: async () => key,
})

type Saved = {
  key?: string | undefined
  origin?: string | undefined
  command?: readonly string[] | undefined
  /** The field that holds the command. */
  field: 'credential_command' | 'ask_credential_command'
  /** The command that saves another key. */
  login: string
}

/** The key of a profile: its command before its saved key. */
const savedSource = (
  io: Io,
  { base_url }: Profile,
  profileName: string,
  { key, origin, command, field, login }: Saved,
): KeySource | undefined => {
  if (command && command.length > 0)
    return {
      where: `that ${command[0]} prints`,
      source: 'profile',
      shown: () => `that ${command[0]} prints`,
      origin: origin ?? originOf(base_url ?? defaultBaseUrl) ?? 'nowhere',
      remedy: `Check what the ${field} of profile ${profileName} prints: svc profile show ${shellQuote(profileName)}`,
      read: async () =>
        (await import('./credential-command.ts')).runCredentialCommand(command, { profileName, field }, io),
    }
  return key === undefined ? undefined : profileSource(key, origin, login)
}

/** --key-file, then SVC_API_KEY, then the profile. */
export const keySource = (
  io: Io,
  globals: Globals,
  profile: Profile,
  profileName: string,
): KeySource | undefined => {
  const inEnv = io.env['SVC_API_KEY']
  if (globals.keyFile !== undefined) return fileSource(globals.keyFile, io)
  if (inEnv)
    return envSource(
      'SVC_API_KEY',
      inEnv,
      `Correct SVC_API_KEY, or unset it and sign in with "svc profile login ${shellQuote(profileName)}"`,
    )
  return savedSource(io, profile, profileName, {
    key: profile.api_key,
    origin: profile.api_key_origin,
    command: profile.credential_command,
    field: 'credential_command',
    login: `svc profile login ${shellQuote(profileName)}`,
  })
}

/**
 * The ask key, which requests approvals: SVC_ASK_KEY, then the profile. Undefined if --key-file or SVC_API_KEY sets the
 * key of this run, which then does everything.
 */
export const askKeySource = (
  io: Io,
  globals: Globals,
  profile: Profile,
  profileName: string,
): KeySource | undefined => {
  if (globals.keyFile !== undefined) return undefined
  const inEnv = io.env['SVC_ASK_KEY']
  if (inEnv) return envSource('SVC_ASK_KEY', inEnv, 'Correct SVC_ASK_KEY, or unset it')
  if (io.env['SVC_API_KEY']) return undefined
  return savedSource(io, profile, profileName, {
    key: profile.ask_key,
    origin: profile.ask_key_origin,
    command: profile.ask_credential_command,
    field: 'ask_credential_command',
    login: `svc profile login ${shellQuote(profileName)} --ask`,
  })
}

const originHints: Record<Noun, (profileName: string, origin: string) => string> = {
  'API key': (profileName, origin) =>
    `svc profile login ${shellQuote(profileName)}, or pass a key for ${origin} with --key-file`,
  'ask key': (profileName, origin) =>
    `svc profile login ${shellQuote(profileName)} --ask, or set SVC_ASK_KEY to a key for ${origin}`,
  bearer: (profileName, origin) =>
    `svc profile login ${shellQuote(profileName)} --bearer, or set MCP_AUTH_TOKEN to a bearer for ${origin}`,
}

/** MCP_AUTH_TOKEN, then the profile. */
export const bearerSource = (io: Io, { mcp_token, mcp_token_origin }: Profile): KeySource | undefined => {
  const inEnv = io.env['MCP_AUTH_TOKEN']
  if (inEnv) return envSource('MCP_AUTH_TOKEN', inEnv)
  return mcp_token === undefined ? undefined : profileSource(mcp_token, mcp_token_origin)
}

/** Throws if the key must not be sent to this address. */
const checkDestination = (
  url: URL,
  source: Pick<KeySource, 'origin'>,
  profileName: string,
  noun: Noun,
): void => {
  if (source.origin !== undefined && source.origin !== url.origin)
    throw new SvcError(
      'usage',
      'key_origin',
      `The ${noun === 'API key' ? 'key' : noun} of profile "${profileName}" was saved for ${source.origin} and is not sent to ${url.origin}`,
      { hint: originHints[noun](profileName, url.origin) },
    )
  requirePrivateWay(url, noun)
}

/** Returns a function that reads the key once per run and checks the address that it is for. */
export const createKeyReader = (
  source: Pick<KeySource, 'where' | 'origin' | 'read'> | undefined,
  profileName: string,
  noun: Noun = 'API key',
) => {
  let key: Promise<string> | undefined
  return async (url: string): Promise<string | undefined> => {
    if (!source) return undefined
    checkDestination(new URL(url), source, profileName, noun)
    return (key ??= source.read().then((text) => checkKey(text, source.where, noun)))
  }
}
