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

type Explained = { setting: string; value: string | null; source: Source | null }

const explainBearer = (profile: Profile, io: Io): Omit<Explained, 'setting'> => {
  const inEnv = io.env['MCP_AUTH_TOKEN']
  if (inEnv) return { value: maskSecret(inEnv), source: 'environment' }
  if (profile.mcp_token === undefined) return { value: null, source: null }
  return {
    value: `${maskSecret(profile.mcp_token)} for ${profile.mcp_token_origin ?? 'nowhere'}`,
    source: 'profile',
  }
}

const explainKey = (profile: Profile, io: Io, globals: Globals): Omit<Explained, 'setting'> => {
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

/** Each value that holds now and where it comes from. */
export const explain = (
  settings: Settings,
  profile: Profile,
  { io, globals }: { io: Io; globals: Globals },
): Explained[] => {
  const named: [string, { value: string; source: Source } | undefined][] = [
    ['profile', settings.profile],
    ['base_url', settings.baseUrl],
    ['mcp_url', settings.mcpUrl],
    ['org', settings.org],
    ['default_mobile', settings.defaultMobile],
    ['default_factors', settings.defaultFactors],
    ['request_from', settings.requestFrom],
    ['cacert', settings.cacert],
  ]
  return [
    ...named.map(([setting, found]) => ({
      setting,
      value: found?.value ?? null,
      source: found?.source ?? null,
    })),
    { setting: 'api_key', ...explainKey(profile, io, globals) },
    { setting: 'mcp_token', ...explainBearer(profile, io) },
    {
      setting: 'protected',
      value: String(settings.protected),
      source: profile.protected === undefined ? 'default' : 'profile',
    },
  ]
}
