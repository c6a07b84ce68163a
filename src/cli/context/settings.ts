import type { EnvName } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Globals, Io, Run } from '../terminal/io.ts'
import { checkBaseUrl, checkMcpUrl, defaultBaseUrl, originOf } from '../../client/address.ts'
import {
  askKeySource,
  bearerSource,
  createKeyReader,
  keySource,
  type KeySource,
  type Source,
} from './api-key.ts'
import { createStore, type Profile, type ProfileFile } from './profile-store.ts'

export type Setting = { value: string; source: Source }

/** A setting with its name as the user knows it. */
export const named = (setting: Setting | undefined, variable: EnvName, field: string) =>
  setting && {
    value: setting.value,
    name: setting.source === 'environment' ? variable : `${field} of the profile`,
  }

/** The settings of this command, each value with its source. Absent if nothing sets it. */
export type Settings = {
  profile: Setting
  baseUrl: Setting
  mcpUrl?: Setting | undefined
  /**
   * The profile's tool server, if `mcpUrl` is absent because a flag or the environment sets another service. svc uses it
   * only with an explicit --mcp.
   */
  otherMcpUrl?: Setting | undefined
  org?: Setting | undefined
  defaultMobile?: Setting | undefined
  defaultFactors?: Setting | undefined
  requestFrom?: Setting | undefined
  cacert?: Setting | undefined
  /** Deletes require the typed name. */
  protected: boolean
  /** The commands that require an approval, by their words: `org delete`, or a whole group: `org`. */
  requireApproval: readonly string[]
  /** The approver for them, from the profile only: the environment cannot choose another one. */
  approver?: string | undefined
  /**
   * The REST key, read when needed, from a file or command if necessary. Throws an SvcError if it was saved for another
   * origin than `url`, or if `url` is plain http to a host that is not loopback.
   */
  apiKey(url: string, refused?: string): Promise<string | undefined>
  /** What to do if there is no REST key, or the service does not accept it. */
  keyHint: string
  /** The ask key, under the same rules; absent if the REST key requests approvals too. */
  askKey?: ((url: string) => Promise<string | undefined>) | undefined
  /** What to do if the service does not accept it. */
  askKeyHint: string
  /** The bearer of the approval tool server: another secret, under the same rules. */
  bearer(url: string): Promise<string | undefined>
  /** The sources of the keys, for `svc profile show --explain`. */
  keySources: {
    apiKey?: KeySource | undefined
    askKey?: KeySource | undefined
    bearer?: KeySource | undefined
  }
}

/** An empty variable counts as unset, because CI passes a missing secret as an empty variable. */
const envSetting = (io: Io, name: EnvName): Setting | undefined =>
  io.env[name] ? { value: io.env[name], source: 'environment' } : undefined

const flagSetting = (value: string | undefined): Setting | undefined =>
  value === undefined ? undefined : { value, source: 'flag' }

const fileSetting = (value: string | undefined): Setting | undefined =>
  value ? { value, source: 'profile' } : undefined

/** The profile of this name. Throws if it does not exist, and lists the existing ones. */
export const requireProfile = (file: ProfileFile, name: string): Profile => {
  if (Object.hasOwn(file.profiles, name)) return file.profiles[name]!
  const names = Object.keys(file.profiles)
  const others = names.length > 0 ? `; existing profiles: ${names.join(', ')}` : ''
  throw new SvcError('notFound', 'no_profile', `Profile "${name}" not found${others}`, {
    hint:
      names.length > 0
        ? 'svc profile list'
        : `svc profile create ${shellQuote(name)} --base-url https://svc.example.com/admin/public/api`,
  })
}

const chosenProfile = (io: Io, globals: Globals, file: ProfileFile): Setting =>
  flagSetting(globals.profile) ??
  envSetting(io, 'SVC_PROFILE') ??
  fileSetting(file.current) ?? { value: 'default', source: 'default' }

/** An address, checked with the name of what sets it. */
const address = (
  setting: Setting | undefined,
  check: (text: string, what: string) => string,
  names: Partial<Record<Source, string>>,
): Setting | undefined => setting && { ...setting, value: check(setting.value, names[setting.source]!) }

/**
 * Whether the profile's tool server belongs to the service in use. With a base URL from a flag or the environment it may
 * belong to another one, and would notify the wrong people.
 */
const isOfService = ({ base_url, mcp_url }: Profile, baseUrl: Setting | undefined): boolean =>
  baseUrl === undefined ||
  baseUrl.source === 'profile' ||
  [base_url ?? defaultBaseUrl, mcp_url!].some((url) => originOf(url) === originOf(baseUrl.value))

/** The settings of this run: flag, then environment, then profile, then default. Throws usage errors. */
export const createSettings = ({ io, globals }: Run, file = createStore(io).read()): Settings => {
  const name = chosenProfile(io, globals, file)
  const profile =
    name.source === 'default' ? (file.profiles['default'] ?? {}) : requireProfile(file, name.value)
  const pick = (flag: string | undefined, env: EnvName, field: string | undefined): Setting | undefined =>
    flagSetting(flag) ?? envSetting(io, env) ?? fileSetting(field)

  const inProfile = (field: keyof Profile): string => `${field} of profile "${name.value}"`

  const baseUrl = address(pick(globals.baseUrl, 'SVC_BASE_URL', profile.base_url), checkBaseUrl, {
    flag: '--base-url',
    environment: 'SVC_BASE_URL',
    profile: inProfile('base_url'),
  })
  const mcpUrl = address(pick(undefined, 'SVC_MCP_URL', profile.mcp_url), checkMcpUrl, {
    environment: 'SVC_MCP_URL',
    profile: inProfile('mcp_url'),
  })
  const own = keySource({ io, globals }, profile, name.value)
  const asking = askKeySource({ io, globals }, profile, name.value)
  const bearer = bearerSource(io, profile, name.value)
  const key = own ?? asking
  const apart = mcpUrl?.source === 'profile' && !isOfService(profile, baseUrl)
  return {
    profile: name,
    baseUrl: baseUrl ?? { value: defaultBaseUrl, source: 'default' },
    mcpUrl: apart ? undefined : mcpUrl,
    otherMcpUrl: apart ? mcpUrl : undefined,
    org: pick(undefined, 'SVC_ORG', profile.org),
    defaultMobile: pick(undefined, 'SVC_DEFAULT_MOBILE', profile.default_mobile),
    defaultFactors: pick(undefined, 'SVC_DEFAULT_FACTORS', profile.default_factors),
    requestFrom: pick(undefined, 'SVC_REQUEST_FROM', profile.request_from),
    cacert: flagSetting(globals.cacert) ?? fileSetting(profile.cacert),
    protected: profile.protected === true,
    requireApproval: profile.require_approval ?? [],
    approver: profile.default_mobile,
    apiKey: createKeyReader(key, name.value, own ? 'API key' : 'ask key'),
    keyHint:
      key?.remedy ??
      `svc profile login ${shellQuote(name.value)} signs in; SVC_API_KEY sets one without saving it; svc serve with a data folder creates the profile local`,
    ...(own && asking && { askKey: createKeyReader(asking, name.value, 'ask key') }),
    askKeyHint: asking?.remedy ?? `svc profile login ${shellQuote(name.value)} --ask`,
    bearer: createKeyReader(bearer, name.value, 'bearer'),
    keySources: { apiKey: own, askKey: asking, bearer },
  }
}
