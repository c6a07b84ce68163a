import { shellQuote } from '../../core/shell-quote.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import type { Io } from '../terminal/io.ts'
import { createStore } from '../context/profile-store.ts'

export type LocalService = {
  baseUrl: string
  mcpUrl: string
  key?: string | undefined
  dataDir: string
  /** Whether this key works and can request approvals. */
  canAsk(key: string): Promise<boolean>
  makeAskKey(): Promise<string>
}

const name = 'local'

const noKey = (dataDir: string): string =>
  `The profile "${name}" has no API key. To save the operator key: svc profile login ${shellQuote(name)} --with-key. ` +
  `If it is lost, stop the service and create a new one: svc service reset-operator-key --data-dir ${shellQuote(dataDir)}`

/** Whether both are the same loopback address except for the port: a restart may change only that. */
const differsInPort = (before: string | undefined, after: string): boolean => {
  if (before === undefined || !URL.canParse(before)) return false
  const urls = [new URL(before), new URL(after)]
  for (const url of urls) url.port = ''
  return urls.every(({ hostname }) => isLoopbackHost(hostname)) && urls[0]!.href === urls[1]!.href
}

/**
 * Saves the started service as the profile `local`, and makes it the current profile if there is none. In an existing
 * profile of the same data folder, only the addresses and a new key change. Returns a note if it saved nothing, or no key.
 */
export const saveLocalProfile = async (
  { io }: { io: Pick<Io, 'env' | 'cwd'> },
  service: LocalService,
): Promise<string | undefined> => {
  const { origin } = new URL(service.baseUrl)
  let note: string | undefined
  await createStore(io).update((file) => {
    note = undefined
    const before = Object.hasOwn(file.profiles, name) ? file.profiles[name]! : undefined
    if (before && before.data_dir !== service.dataDir) {
      note =
        `The profile "${name}" belongs to ${before.data_dir ?? 'another service'} and was not changed; ` +
        `for this one: svc profile create <name> --base-url ${shellQuote(service.baseUrl)} --with-key`
      return
    }
    if (before && service.key === undefined && !differsInPort(before.base_url, service.baseUrl)) {
      note = `The profile "${name}" points to ${before.base_url} and was not changed`
      return
    }
    const key = service.key ?? before?.api_key
    file.profiles[name] = {
      ...before,
      base_url: service.baseUrl,
      mcp_url: service.mcpUrl,
      data_dir: service.dataDir,
      ...(key === undefined ? {} : { api_key: key, api_key_origin: origin }),
      ...(before?.ask_key === undefined ? {} : { ask_key: before.ask_key, ask_key_origin: origin }),
    }
    file.current ??= name
    if (key === undefined && before?.credential_command === undefined) note = noKey(service.dataDir)
  })
  if (note === undefined) await saveAskKey({ io }, service)
  return note
}

/** Saves an ask key next to the operator key, unless the profile has one that works. */
const saveAskKey = async (
  { io }: { io: Pick<Io, 'env' | 'cwd'> },
  { dataDir, baseUrl, canAsk, makeAskKey }: LocalService,
): Promise<void> => {
  const store = createStore(io)
  const { ask_key, ask_credential_command } = store.read().profiles[name] ?? {}
  if (ask_credential_command !== undefined || (ask_key !== undefined && (await canAsk(ask_key)))) return
  const made = await makeAskKey()
  await store.update(({ profiles }) => {
    const profile = profiles[name]
    if (profile?.data_dir === dataDir)
      Object.assign(profile, { ask_key: made, ask_key_origin: new URL(baseUrl).origin })
  })
}
