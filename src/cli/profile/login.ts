import { org } from '../../contract/org.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellWord } from '../../core/shell-word.ts'
import type { Context } from '../context.ts'
import { openClient } from '../open-client.ts'
import { checkBaseUrl } from './address.ts'
import { checkName, parseChange } from './edit.ts'
import type { ProfileFile } from './profile-file.ts'
import { readNewKey } from './read-key.ts'
import { createSettings } from './resolve.ts'
import type { Settings } from './settings.ts'
import { saveProfile } from './save.ts'
import { createStore } from './store.ts'

/** Tries a key at its service. Fails where the service refuses it or cannot be reached; answers what it may not do. */
const tryKey = async (
  { io, globals }: Context,
  settings: Settings,
  target: { url: string; key: string },
): Promise<string | undefined> => {
  const client = openClient(io, globals, {
    ...settings,
    baseUrl: { value: target.url, source: 'profile' },
    apiKey: async () => target.key,
    keyHint: 'Nothing was saved. Check that the key was made by this service and has not been revoked',
  })
  try {
    await client.call(org.listOrganizations, { limit: 1 }, { signal: io.signal })
    return undefined
  } catch (error) {
    if (error instanceof SvcError && ['forbidden', 'http_403'].includes(error.code))
      return 'The service accepts the key, but it cannot list organizations.'
    throw error
  } finally {
    await client.close()
  }
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
      `svc profile login ${shellWord(checkName(name))} --base-url https://svc.example.com/admin/public/api`,
    )
  const profiles = { ...file.profiles, [checkName(name)]: {} }
  return createSettings({
    io,
    globals: { ...globals, profile: name },
    store: { ...store, read: () => ({ ...file, profiles }) },
  })
}

export type LoginOptions = { withKey?: boolean; dryRun?: boolean }

/** Asks for a key, tries it, and saves it when the service accepts it: for this address and no other. */
export const logIn = async (
  asked: string | undefined,
  { withKey = false, dryRun }: LoginOptions,
  context: Context,
): Promise<void> => {
  const { io, globals } = context
  const settings = settingsFor(asked ?? globals.profile, context)
  const name = settings.profile.value
  const store = createStore(io)
  const { profiles } = store.read()
  const isNew = !Object.hasOwn(profiles, name)
  const saved = isNew ? {} : profiles[name]!
  if (saved.credential_command)
    throw usageError(
      `Profile "${name}" gets its key from a command`,
      `svc profile set ${shellWord(name)} credential_command=   removes the command`,
    )
  const cacert = isNew && globals.cacert !== undefined ? [parseChange(`cacert=${globals.cacert}`, io)] : []
  const url = checkBaseUrl(globals.baseUrl ?? saved.base_url ?? settings.baseUrl.value, '--base-url')
  const change = (file: ProfileFile, key?: string): void => {
    const before = Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined
    file.profiles[name] = {
      ...Object.fromEntries(cacert),
      ...before,
      base_url: url,
      ...(key !== undefined && { api_key: key, api_key_origin: new URL(url).origin }),
    }
    file.current ??= name
  }
  const message = `The key works at ${new URL(url).origin} and is saved in profile ${name}`
  // The key is neither asked for nor tried.
  if (dryRun) return saveProfile({ name, change, message, dryRun }, context)
  const key = await readNewKey(context, { url, profile: name, piped: withKey })
  const warning = await tryKey(context, settings, { url, key })
  if (warning) (await context.output()).warn(warning)
  await saveProfile({ name, change: (file) => change(file, key), message }, context)
}
