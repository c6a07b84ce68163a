import type { EnvName } from '../../core/env.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Globals } from '../terminal/run.ts'
import type { Io } from '../terminal/io.ts'
import { maskSecret } from '../terminal/mask.ts'
import { defaultBaseUrl } from '../context/address.ts'
import type { Profile, ProfileFile } from '../context/profile-file.ts'
import type { Settings, Source } from '../context/settings.ts'

type KeyKind = 'command' | 'saved' | null

const kindOf = (key: string | undefined, command: string[] | undefined): KeyKind =>
  command && command.length > 0 ? 'command' : key === undefined ? null : 'saved'

const keyKind = (profile: Profile): KeyKind => kindOf(profile.api_key, profile.credential_command)

const askKeyKind = (profile: Profile): KeyKind => kindOf(profile.ask_key, profile.ask_credential_command)

export const listed = (file: ProfileFile): Record<string, unknown>[] =>
  Object.entries(file.profiles).map(([name, profile]) => ({
    name,
    current: file.current === name,
    base_url: profile.base_url ?? defaultBaseUrl,
    org: profile.org ?? null,
    key: keyKind(profile),
    ask_key: askKeyKind(profile),
    protected: profile.protected === true,
  }))

const secrets = ['api_key', 'ask_key', 'mcp_token'] as const

/** Secrets are masked in every format; only --reveal shows them. */
export const shownProfile = (name: string, profile: Profile, reveal: boolean): Record<string, unknown> => {
  const shown: Record<string, unknown> = { name, ...profile }
  for (const field of reveal ? [] : secrets) {
    const secret = profile[field]
    if (secret !== undefined) shown[field] = maskSecret(secret)
  }
  return shown
}

type Explained = {
  setting: string
  value: string | null
  source: Source | 'argument' | null
  from: string | null
}
type Found = { value: string | null; source: Source | null; from?: string }

const explainBearer = (profile: Profile, io: Io): Found => {
  const inEnv = io.env['MCP_AUTH_TOKEN']
  if (inEnv) return { value: maskSecret(inEnv), source: 'environment' }
  if (profile.mcp_token === undefined) return { value: null, source: null }
  return {
    value: `${maskSecret(profile.mcp_token)} for ${profile.mcp_token_origin ?? 'nowhere'}`,
    source: 'profile',
  }
}

const explainSaved = (kind: KeyKind, saved: string | undefined, origin = 'nowhere', command = ''): Found => {
  if (kind === null) return { value: null, source: null }
  const value = kind === 'command' ? `that ${command} prints` : `${maskSecret(saved!)} for ${origin}`
  return { value, source: 'profile' }
}

const explainKey = (profile: Profile, io: Io, globals: Globals): Found => {
  if (globals.keyFile !== undefined) return { value: `in ${globals.keyFile}`, source: 'flag' }
  const inEnv = io.env['SVC_API_KEY']
  if (inEnv) return { value: maskSecret(inEnv), source: 'environment' }
  const { api_key, api_key_origin, credential_command } = profile
  return explainSaved(keyKind(profile), api_key, api_key_origin, credential_command?.[0])
}

/** Without one, the API key asks. */
const explainAskKey = (profile: Profile, io: Io, globals: Globals): Found => {
  const inEnv = io.env['SVC_ASK_KEY']
  if (inEnv && globals.keyFile === undefined) return { value: maskSecret(inEnv), source: 'environment' }
  const { ask_key, ask_key_origin, ask_credential_command } = profile
  const unused = globals.keyFile !== undefined || io.env['SVC_API_KEY']
  return explainSaved(
    unused ? null : askKeyKind(profile),
    ask_key,
    ask_key_origin,
    ask_credential_command?.[0],
  )
}

/**
 * Each value that holds now and where it comes from: which flag, variable, .svcrc or profile. `argument` is the profile
 * that was named without a flag.
 */
export const explain = (
  settings: Settings,
  profile: Profile,
  { io, globals, argument }: { io: Io; globals: Globals; argument?: string },
): Explained[] => {
  const named: [setting: string, found: Found | undefined, flag?: string, variable?: EnvName][] = [
    ['profile', settings.profile, '--profile', 'SVC_PROFILE'],
    ['base_url', settings.baseUrl, '--base-url', 'SVC_BASE_URL'],
    ['mcp_url', settings.mcpUrl ?? settings.otherMcpUrl, undefined, 'SVC_MCP_URL'],
    ['org', settings.org, undefined, 'SVC_ORG'],
    ['default_mobile', settings.defaultMobile, undefined, 'SVC_DEFAULT_MOBILE'],
    ['default_factors', settings.defaultFactors, undefined, 'SVC_DEFAULT_FACTORS'],
    ['request_from', settings.requestFrom, undefined, 'SVC_REQUEST_FROM'],
    ['cacert', settings.cacert, '--cacert'],
    ['api_key', explainKey(profile, io, globals), '--key-file', 'SVC_API_KEY'],
    ['ask_key', explainAskKey(profile, io, globals), undefined, 'SVC_ASK_KEY'],
    ['mcp_token', explainBearer(profile, io), undefined, 'MCP_AUTH_TOKEN'],
    [
      'protected',
      { value: String(settings.protected), source: profile.protected === undefined ? 'default' : 'profile' },
    ],
    [
      'require_approval',
      settings.requireApproval.length > 0
        ? { value: settings.requireApproval.join(', '), source: 'profile' }
        : undefined,
    ],
    [
      'verify_fallback',
      {
        value: settings.verifyFallback,
        source: profile.verify_fallback === undefined ? 'default' : 'profile',
      },
    ],
  ]
  return named.map(([setting, found, flag, variable]) => {
    const isNamed = setting === 'profile' && argument !== undefined
    const source = isNamed ? 'argument' : (found?.source ?? null)
    const said = {
      flag,
      argument: `svc profile show ${shellQuote(argument ?? '')}`,
      environment: variable,
      profile: setting === 'profile' ? 'svc profile use' : `profile ${settings.profile.value}`,
      '.svcrc': found?.from,
      default: undefined,
    }
    return { setting, value: found?.value ?? null, source, from: (source && said[source]) ?? null }
  })
}
