import type { EnvName } from '../../core/env.ts'
import { shellWord } from '../../core/shell-word.ts'
import type { Globals } from '../context.ts'
import type { Io } from '../io.ts'
import { maskSecret } from '../output/mask.ts'
import { defaultBaseUrl } from './address.ts'
import type { Profile, ProfileFile } from './profile-file.ts'
import type { Settings, Source } from './settings.ts'

const keyKind = ({ api_key, credential_command: command }: Profile): string | null =>
  command && command.length > 0 ? 'command' : api_key === undefined ? null : 'saved'

export const listed = (file: ProfileFile): Record<string, unknown>[] =>
  Object.entries(file.profiles).map(([name, profile]) => ({
    name,
    current: file.current === name,
    base_url: profile.base_url ?? defaultBaseUrl,
    org: profile.org ?? null,
    key: keyKind(profile),
    protected: profile.protected === true,
  }))

/** Secrets are masked in every format; only --reveal shows them. */
export const shownProfile = (name: string, profile: Profile, reveal: boolean): Record<string, unknown> => ({
  name,
  ...profile,
  ...(profile.api_key !== undefined && !reveal ? { api_key: maskSecret(profile.api_key) } : {}),
  ...(profile.mcp_token !== undefined && !reveal ? { mcp_token: maskSecret(profile.mcp_token) } : {}),
})

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

const explainKey = (profile: Profile, io: Io, globals: Globals): Found => {
  if (globals.keyFile !== undefined) return { value: `in ${globals.keyFile}`, source: 'flag' }
  const inEnv = io.env['SVC_API_KEY']
  if (inEnv) return { value: maskSecret(inEnv), source: 'environment' }
  if (keyKind(profile) === 'command')
    return { value: `that ${profile.credential_command![0]} prints`, source: 'profile' }
  if (profile.api_key === undefined) return { value: null, source: null }
  return {
    value: `${maskSecret(profile.api_key)} for ${profile.api_key_origin ?? 'nowhere'}`,
    source: 'profile',
  }
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
      argument: `svc profile show ${shellWord(argument ?? '')}`,
      environment: variable,
      profile: setting === 'profile' ? 'svc profile use' : `profile ${settings.profile.value}`,
      '.svcrc': found?.from,
      default: undefined,
    }
    return { setting, value: found?.value ?? null, source, from: (source && said[source]) ?? null }
  })
}
