import { org } from '../../contract/org.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { openClient } from '../open-client.ts'
import { checkBaseUrl, defaultBaseUrl } from './address.ts'
import { readNewKey } from './read-key.ts'
import { createSettings } from './resolve.ts'
import type { Settings } from './settings.ts'
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
  })
  try {
    await client.call(org.listOrganizations, { limit: 1 }, { signal: io.signal })
    return undefined
  } catch (error) {
    if (error instanceof SvcError && ['forbidden', 'http_403'].includes(error.code))
      return 'The service knows the key, but it may not list organizations.'
    throw error
  } finally {
    await client.close()
  }
}

/** Asks for a key, tries it, and saves it when the service takes it: for this address and no other. */
export const logIn = async (asked: string | undefined, withKey: boolean, context: Context): Promise<void> => {
  const { io } = context
  const globals = asked === undefined ? context.globals : { ...context.globals, profile: asked }
  const settings = createSettings({ io, globals })
  const name = settings.profile.value
  const store = createStore(io)
  const saved = Object.hasOwn(store.read().profiles, name) ? store.read().profiles[name]! : {}
  if (saved.credential_command)
    throw usageError(
      `Profile "${name}" gets its key from a command`,
      `svc profile set ${name} credential_command=   takes the command away`,
    )
  const url = checkBaseUrl(globals.baseUrl ?? saved.base_url ?? defaultBaseUrl, 'The base URL')
  const key = await readNewKey(context, { url, profile: name, piped: withKey })
  const warning = await tryKey(context, settings, { url, key })
  await store.update((file) => {
    const before = Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined
    file.profiles[name] = { ...before, base_url: url, api_key: key, api_key_origin: new URL(url).origin }
    file.current ??= name
  })
  const output = await context.output()
  if (warning) output.warn(warning)
  await output.show({
    status: 'success',
    message: `The key works at ${new URL(url).origin} and is saved in profile ${name}`,
  })
}
