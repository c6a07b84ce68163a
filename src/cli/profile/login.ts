import type { Client } from '../../client/client.ts'
import { org } from '../../contract/org.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { openClient, openTransport } from '../context/open-client.ts'
import { readOwnKey } from '../context/own-key.ts'
import { checkBaseUrl } from '../../client/address.ts'
import { createStore, type ProfileFile } from '../context/profile-store.ts'
import { createSettings, type Settings } from '../context/settings.ts'
import { checkName, parseChange } from './edit.ts'
import { readNewKey, saveProfile } from './save.ts'

type Target = { url: string; key: string }

/** A client with only the key to test. */
const clientFor = ({ io, globals }: Context, settings: Settings, { url, key }: Target): Client =>
  openClient(io, globals, {
    ...settings,
    baseUrl: { value: url, source: 'profile' },
    apiKey: async () => key,
    askKey: undefined,
    keyHint: 'Nothing was saved. Check that this service created the key and that it was not revoked',
  })

/** Tests a key. Throws if the service refuses it or cannot be reached; returns a warning about missing rights. */
const tryKey = async (client: Client, signal: AbortSignal): Promise<string | undefined> => {
  try {
    await client.call(org.listOrganizations, { limit: 1 }, { signal })
    return undefined
  } catch (error) {
    if (error instanceof SvcError && ['forbidden', 'http_403', 'scope_missing'].includes(error.code))
      return 'The service accepts the key, but it cannot list organizations.'
    throw error
  }
}

/** Tests an ask key. Throws if it cannot request approvals; returns a warning if it can do more than that. */
const tryAskKey = async (client: Client, signal: AbortSignal): Promise<string | undefined> => {
  const { scopes } = (await readOwnKey(client, signal)) ?? {}
  if (!scopes) return 'The service does not report what this key can do.'
  if (!scopes.includes('ask'))
    throw new SvcError(
      'refused',
      'cannot_ask',
      `This key cannot request approvals: its scopes are ${scopes.join(', ')}`,
      {
        hint: 'Nothing was saved. Create another key: svc key create --can ask',
      },
    )
  const more = scopes.filter((scope) => scope !== 'ask')
  if (more.length === 0) return undefined
  return `This key can do more than request approvals: ${more.join(', ')}. To create one that cannot: svc key create --can ask`
}

/** The settings of the profile to log in to. A new profile needs an address: from --base-url or from SVC_BASE_URL. */
const settingsFor = (name: string | undefined, { io, globals }: Context): Settings => {
  const store = createStore(io)
  const file = store.read()
  if (name === undefined || Object.hasOwn(file.profiles, name))
    return createSettings({ io, globals: { ...globals, profile: name }, store })
  const { baseUrl } = globals
  if (baseUrl === undefined && !io.env['SVC_BASE_URL'] && name !== 'default')
    throw usageError(
      `There is no profile "${name}"; use --base-url to create it`,
      'Type the same command with --base-url https://svc.example.com/admin/public/api',
    )
  const profiles = { ...file.profiles, [checkName(name)]: {} }
  return createSettings({
    io,
    globals: { ...globals, profile: name },
    store: { ...store, read: () => ({ ...file, profiles }) },
  })
}

export type LoginOptions = { withKey?: boolean; ask?: boolean; dryRun?: boolean }

/** The differences between the API key of a profile and its ask key. */
const slots = {
  own: { noun: 'API key', key: 'api_key', origin: 'api_key_origin', command: 'credential_command' },
  ask: { noun: 'ask key', key: 'ask_key', origin: 'ask_key_origin', command: 'ask_credential_command' },
} as const

/** Asks for a key, tests it, and saves it for this address if the service accepts it. */
export const logIn = async (
  typedName: string | undefined,
  { withKey = false, ask = false, dryRun }: LoginOptions,
  context: Context,
): Promise<void> => {
  const { io, globals } = context
  const settings = settingsFor(typedName ?? globals.profile, context)
  const name = settings.profile.value
  const store = createStore(io)
  const { profiles } = store.read()
  const isNew = !Object.hasOwn(profiles, name)
  const saved = isNew ? {} : profiles[name]!
  const slot = ask ? slots.ask : slots.own
  if (saved[slot.command])
    throw usageError(
      `Profile "${name}" gets its ${ask ? slot.noun : 'key'} from a command`,
      `svc profile set ${shellQuote(name)} ${shellQuote(slot.command)}=   removes the command`,
    )
  const cacert = isNew && globals.cacert !== undefined ? [parseChange(`cacert=${globals.cacert}`, io)] : []
  const url = checkBaseUrl(globals.baseUrl ?? saved.base_url ?? settings.baseUrl.value, '--base-url')
  const change = (file: ProfileFile, key?: string): void => {
    const before = Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined
    file.profiles[name] = {
      ...Object.fromEntries(cacert),
      ...before,
      base_url: url,
      ...(key !== undefined && { [slot.key]: key, [slot.origin]: new URL(url).origin }),
    }
    file.current ??= name
  }
  const message = `The ${ask ? slot.noun : 'key'} works at ${new URL(url).origin} and is saved in profile ${name}`
  if (dryRun) return saveProfile({ name, change, message, dryRun }, context)
  const key = await readNewKey(context, { url, profile: name, piped: withKey, noun: slot.noun })
  const client = clientFor(context, settings, { url, key })
  try {
    const warning = await (ask ? tryAskKey : tryKey)(client, io.signal)
    if (warning) (await context.output()).warn(warning)
  } finally {
    await client.close()
  }
  await saveProfile({ name, change: (file) => change(file, key), message }, context)
}

/** Asks for the bearer of the tool server, tests it, and saves it for that address if the server accepts it. */
export const logInBearer = async (
  typedName: string | undefined,
  { withKey = false, dryRun }: LoginOptions,
  context: Context,
): Promise<void> => {
  const { io } = context
  const globals = typedName === undefined ? context.globals : { ...context.globals, profile: typedName }
  const { profile, cacert, ...settings } = createSettings({ io, globals })
  const mcpUrl = settings.mcpUrl ?? settings.otherMcpUrl
  const name = profile.value
  if (!mcpUrl)
    throw usageError(
      `Profile "${name}" has no tool server`,
      `svc profile set ${shellQuote(name)} mcp_url=https://host.example/mcp`,
    )
  const url = mcpUrl.value
  const change = (file: ProfileFile, token?: string): void => {
    const before = Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined
    const bearer = token !== undefined && { mcp_token: token, mcp_token_origin: new URL(url).origin }
    file.profiles[name] = { ...before, mcp_url: url, ...bearer }
    file.current ??= name
  }
  const message = `The bearer works at ${new URL(url).origin} and is saved in profile ${name}`
  if (dryRun) return saveProfile({ name, change, message, dryRun }, context)
  const token = await readNewKey(context, { url, profile: name, piped: withKey, noun: 'bearer' })
  const transport = openTransport(io, cacert?.value)
  const { createToolClient } = await import('../../tools/client/tool-client.ts')
  const tools = createToolClient({ url, token, transport, name: 'svc', signal: io.signal })
  try {
    await tools.list()
  } finally {
    await tools.close()
    await transport.close()
  }
  await saveProfile({ name, change: (file) => change(file, token), message }, context)
}
