import type { EnvName } from '../../core/env.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { maskSecret } from '../terminal/mask.ts'
import { defaultBaseUrl } from '../../client/address.ts'
import type { KeySource, Source } from '../context/api-key.ts'
import type { Profile, ProfileFile } from '../context/profile-store.ts'
import type { Settings } from '../context/settings.ts'

const keyKind = (key: string | undefined, command: string[] | undefined): 'command' | 'saved' | null =>
  command && command.length > 0 ? 'command' : key === undefined ? null : 'saved'

export const profileRows = (file: ProfileFile): Record<string, unknown>[] =>
  Object.entries(file.profiles).map(([name, profile]) => ({
    name,
    current: file.current === name,
    base_url: profile.base_url ?? defaultBaseUrl,
    org: profile.org ?? null,
    key: keyKind(profile.api_key, profile.credential_command),
    ask_key: keyKind(profile.ask_key, profile.ask_credential_command),
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

type Found = { value: string | null; source: Source | null }

type Named = [setting: string, found: Found | undefined, flag?: string | undefined, variable?: EnvName]

const secret = (key: KeySource | undefined): Found | undefined =>
  key && { value: key.shown(maskSecret), source: key.source }

/**
 * Each value in use and its source: a flag, a variable or the profile. `argument` is the profile that was named without
 * a flag.
 */
export const explain = (settings: Settings, profile: Profile, argument: string | undefined) => {
  const { requireApproval: listed } = settings
  const named: Named[] = [
    ['profile', settings.profile, '--profile', 'SVC_PROFILE'],
    ['base_url', settings.baseUrl, '--base-url', 'SVC_BASE_URL'],
    ['mcp_url', settings.mcpUrl ?? settings.otherMcpUrl, undefined, 'SVC_MCP_URL'],
    ['org', settings.org, undefined, 'SVC_ORG'],
    ['default_mobile', settings.defaultMobile, undefined, 'SVC_DEFAULT_MOBILE'],
    ['default_factors', settings.defaultFactors, undefined, 'SVC_DEFAULT_FACTORS'],
    ['request_from', settings.requestFrom, undefined, 'SVC_REQUEST_FROM'],
    ['cacert', settings.cacert, '--cacert'],
    ['api_key', secret(settings.keySources.apiKey), '--key-file', 'SVC_API_KEY'],
    ['ask_key', secret(settings.keySources.askKey), undefined, 'SVC_ASK_KEY'],
    ['mcp_token', secret(settings.keySources.bearer), undefined, 'MCP_AUTH_TOKEN'],
    [
      'protected',
      { value: String(settings.protected), source: profile.protected === undefined ? 'default' : 'profile' },
    ],
    ['require_approval', listed.length > 0 ? { value: listed.join(', '), source: 'profile' } : undefined],
  ]
  return named.map(([setting, found, flag, variable]) => {
    const isNamed = setting === 'profile' && argument !== undefined
    const source = isNamed ? 'argument' : (found?.source ?? null)
    const origins = {
      flag,
      argument: `svc profile show ${shellQuote(argument ?? '')}`,
      environment: variable,
      profile: setting === 'profile' ? 'svc profile use' : `profile ${settings.profile.value}`,
      default: undefined,
    }
    return { setting, value: found?.value ?? null, source, from: (source && origins[source]) ?? null }
  })
}
