import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/rest.ts'
import { createTransport } from '../../client/undici-transport.ts'
import { usageError } from '../../core/errors.ts'
import { readAtMost } from '../../core/read-at-most.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellWord } from '../../core/shell-word.ts'
import { withTwoKeys } from './two-keys.ts'
import type { Context } from './context.ts'
import type { Globals } from '../terminal/run.ts'
import type { Io } from '../terminal/io.ts'
import type { Settings } from './settings.ts'

const mostCaBytes = 4 * 1024 * 1024

export const readCa = (file: string): string => {
  let bytes: Buffer | undefined
  try {
    bytes = readAtMost(file, mostCaBytes)
  } catch {
    // As one that is too large.
  }
  if (!bytes) throw usageError(`Cannot read the CA file ${file}`, '--cacert FILE must be a PEM file')
  return bytes.toString('utf8')
}

/** A transport without any credential; `cacert` names a file with the CA to trust. */
export const openTransport = (io: Io, cacert: string | undefined): ReturnType<typeof createTransport> =>
  createTransport({ env: io.env, ca: cacert === undefined ? undefined : readCa(cacert) })

type Opening = {
  /** Of a person who approved what is written now. */
  approval?: () => string | undefined
  /** The tools of an agent. */
  forAgent?: boolean
}

/** The client of this run: its address, keys, proxy and CA from the settings. */
export const openClient = (
  io: Io,
  globals: Globals,
  settings: Settings,
  { approval, forAgent = false }: Opening = {},
): Client => {
  const transport = openTransport(io, settings.cacert?.value)
  const { baseUrl, keyHint, apiKey, askKey, askKeyHint, profile } = settings
  const common = {
    baseUrl: baseUrl.value,
    transport,
    approval,
    debug: globals.debug ? (line: string) => io.stderr.write(`${safeLine(line)}\n`) : undefined,
  }
  const own = createClient({ ...common, keyHint, apiKey })
  return withTwoKeys({
    own,
    asking: askKey ? createClient({ ...common, keyHint: askKeyHint, apiKey: askKey }) : own,
    askingOnly: forAgent,
    hint: `Create a key that can ask: svc key create --can ask. Save it: svc profile login ${shellWord(profile.value)} --ask`,
  })
}

/** What `use` answers with a client that has only the key that asks; undefined where there is no such key. */
export const withAskKey = async <T>(
  { io, globals, settings: read }: Pick<Context, 'io' | 'globals' | 'settings'>,
  use: (client: Client) => Promise<T>,
): Promise<T | undefined> => {
  const settings = await read()
  const { askKey, askKeyHint } = settings
  if (!askKey) return undefined
  const client = openClient(io, globals, {
    ...settings,
    apiKey: askKey,
    keyHint: askKeyHint,
    askKey: undefined,
  })
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}
