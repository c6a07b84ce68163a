import type { Client } from '../../client/client.ts'
import { org } from '../../contract/org.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { slots } from '../context/api-key.ts'
import { listTools, openClient } from '../context/open-client.ts'
import { readOwnKey } from '../context/own-key.ts'
import { checkBaseUrl } from '../../client/address.ts'
import { createStore, type ProfileFile } from '../context/profile-store.ts'
import { createSettings, type Settings } from '../context/settings.ts'
import type { Action } from '../program/define-command.ts'
import { checkName, parseChange } from './edit.ts'
import type { LoginOptions } from './person.ts'
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
      { hint: 'Nothing was saved. Create another key: svc key create --can ask' },
    )
  const more = scopes.filter((scope) => scope !== 'ask')
  if (more.length === 0) return undefined
  return `This key can do more than request approvals: ${more.join(', ')}. To create one that cannot: svc key create --can ask`
}

/** The settings of the profile to log in to. A new profile needs an address: from --base-url or from SVC_BASE_URL. */
const settingsFor = (name: string | undefined, { io, globals }: Context): Settings => {
  const file = createStore(io).read()
  const named = { io, globals: { ...globals, profile: name } }
  if (name === undefined || Object.hasOwn(file.profiles, name)) return createSettings(named, file)
  const { baseUrl } = globals
  if (baseUrl === undefined && !io.env['SVC_BASE_URL'] && name !== 'default')
    throw usageError(
      `There is no profile "${name}"; use --base-url to create it`,
      'Type the same command with --base-url https://svc.example.com/admin/public/api',
    )
  return createSettings(named, { ...file, profiles: { ...file.profiles, [checkName(name)]: {} } })
}

/**
 * Signs a person in. With a flag that says so, asks for a key instead, tests it, and saves it for this address if the service
 * accepts it.
 */
export const logIn: Action<LoginOptions> = async ({ args: [typedName], options }, context) => {
  const { withKey = false, ask = false, bearer = false, can, authenticator, device, dryRun } = options
  const { io, globals } = context
  if (ask && bearer) throw usageError('--ask cannot be combined with --bearer', 'Remove --ask or --bearer')
  const settings = settingsFor(typedName ?? globals.profile, context)
  const name = settings.profile.value
  const { profiles } = createStore(io).read()
  const isNew = !Object.hasOwn(profiles, name)
  const saved = isNew ? {} : profiles[name]!
  const cacert = isNew && globals.cacert !== undefined ? [parseChange(`cacert=${globals.cacert}`, io)] : []
  if (!withKey && !ask && !bearer && globals.keyFile === undefined) {
    const { logInPerson } = await import('./person.ts')
    return logInPerson({ name, settings, saved, fields: Object.fromEntries(cacert) }, options, context)
  }
  const flags = { '--can': can, '--authenticator': authenticator, '--device': device }
  const ofSignIn = Object.entries(flags).find(([, value]) => value !== undefined)?.[0]
  if (ofSignIn !== undefined)
    throw usageError(
      `${ofSignIn} is for signing in`,
      'Remove it, or --with-key, --ask, --bearer and --key-file',
    )
  const secret = bearer ? 'bearer' : ask ? 'ask key' : 'API key'
  const slot = slots[secret]
  const noun = secret === 'API key' ? 'key' : secret
  if (slot.command && saved[slot.command])
    throw usageError(
      `Profile "${name}" gets its ${noun} from a command`,
      `svc profile set ${shellQuote(name)} ${shellQuote(slot.command)}=   removes the command`,
    )
  const toolServer = (settings.mcpUrl ?? settings.otherMcpUrl)?.value
  if (bearer && toolServer === undefined)
    throw usageError(
      `Profile "${name}" has no tool server`,
      `svc profile set ${shellQuote(name)} mcp_url=https://host.example/mcp`,
    )
  const url = bearer
    ? toolServer!
    : checkBaseUrl(globals.baseUrl ?? saved.base_url ?? settings.baseUrl.value, '--base-url')
  const change = (file: ProfileFile, key?: string): void => {
    const before = Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined
    file.profiles[name] = {
      ...Object.fromEntries(cacert),
      ...before,
      [bearer ? 'mcp_url' : 'base_url']: url,
      ...(key !== undefined && { [slot.key]: key, [`${slot.key}_origin`]: new URL(url).origin }),
    }
    file.current ??= name
  }
  const message = `The ${noun} works at ${new URL(url).origin} and is saved in profile ${name}`
  if (dryRun) return saveProfile({ name, change, message, dryRun }, context)
  const key = await readNewKey(context, { url, profile: name, piped: withKey, noun: secret })
  if (bearer) {
    await listTools({ url, token: key, name: 'svc', cacert: settings.cacert?.value }, context)
  } else {
    const client = clientFor(context, settings, { url, key })
    try {
      const warning = await (ask ? tryAskKey : tryKey)(client, io.signal)
      if (warning) (await context.output()).warn(warning)
    } finally {
      await client.close()
    }
  }
  await saveProfile({ name, change: (file) => change(file, key), message, isLogin: true }, context)
}
