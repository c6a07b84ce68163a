import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/rest.ts'
import { createTransport } from '../../client/undici-transport.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Operation } from '../../contract/operation.ts'
import { hostOf } from '../../client/network-error.ts'
import { readBytes } from '../terminal/input-file.ts'
import type { Globals, Io, Run } from '../terminal/io.ts'
import type { Settings } from './settings.ts'

type Options = {
  /** With the API key. */
  own: Client
  /** With the key that asks; the same client where one key does both. */
  asking: Client
  /** Whether requests of other keys stay unknown, as they do to an agent. */
  askingOnly: boolean
  /** What to do about a key that cannot ask. */
  hint: string
}

/** `one` names a request: it is made, read and ended with the key that asks. */
const kindOf = ({ path, open, effect }: Operation): 'other' | 'list' | 'new' | 'one' => {
  if (open || !path.startsWith('/svc/v1/approvals')) return 'other'
  if (path.includes('{')) return 'one'
  return effect === 'read' ? 'list' : 'new'
}

const isRefused = (error: unknown, code: string): error is SvcError =>
  error instanceof SvcError && error.code === code

/**
 * One client over two keys. The key that asks makes requests for approval, and reads and ends them. A request that it does
 * not know was made with another key, so the API key is tried. Lists and all other operations are the API key's.
 */
export const withTwoKeys = ({ own, asking, askingOnly, hint }: Options): Client => {
  const ask: Client['call'] = async (...call) => {
    try {
      return await asking.call(...call)
    } catch (error) {
      if (!isRefused(error, 'scope_missing')) throw error
      throw error.with({ hint })
    }
  }

  const call: Client['call'] = async (...given) => {
    const kind = kindOf(given[0])
    if (own === asking) return kind === 'new' ? ask(...given) : own.call(...given)
    if (kind === 'other') return own.call(...given)
    if (kind === 'new') return ask(...given)
    const [first, second, passes] =
      kind === 'one' ? [asking, own, 'not_found'] : [own, asking, 'scope_missing']
    try {
      return await first.call(...given)
    } catch (error) {
      if (askingOnly || !isRefused(error, passes)) throw error
      return second.call(...given)
    }
  }

  const pages: Client['pages'] = async function* (...given) {
    try {
      yield* own.pages(...given)
    } catch (error) {
      if (kindOf(given[0]) !== 'list' || !isRefused(error, 'scope_missing')) throw error
      yield* asking.pages(...given)
    }
  }

  return { ...own, call, pages }
}

export const readCa = (file: string): string =>
  readBytes(
    file,
    { cwd: '.' },
    { flag: '--cacert', mostMiB: 4, hint: '--cacert FILE must be a PEM file' },
  ).toString('utf8')

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
    hint: `Create a key that can ask: svc key create --can ask. Save it: svc profile login ${shellQuote(profile.value)} --ask`,
  })
}

/** What `use` answers with a client that has only the key that asks; undefined where there is no such key. */
export const withAskKey = async <T>(
  { io, globals, settings: read }: Pick<Run, 'io' | 'globals'> & { settings(): Promise<Settings> },
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

/** What `/health` says: `ok` is a yes or a no in a service of the specification. Another program may have a page of that name. */
export const healthOf = (answer: unknown): 'well' | 'ill' | 'unsaid' => {
  const { ok } = (answer ?? {}) as { ok?: unknown }
  if (ok === true) return 'well'
  return ok === false ? 'ill' : 'unsaid'
}

/** JSON of an address that wants no credentials; none is sent, and no redirect is followed. `cacert` trusts a CA file. */
export const getJson = async (
  { io }: Pick<Run, 'io'>,
  url: string,
  cacert: string | undefined,
): Promise<unknown> => {
  const transport = openTransport(io, cacert)
  try {
    const headers = { accept: 'application/json', 'user-agent': 'svc' }
    const { status, body } = await transport({ method: 'GET', url, headers }, io.signal)
    if (status !== 200)
      throw new SvcError('unreachable', `http_${status}`, `${hostOf(url)} answered ${status}`, {
        hint: `Check the address. The request was for ${new URL(url).pathname}`,
      })
    return JSON.parse(body) as unknown
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SvcError(
      'unreachable',
      'not_json',
      `${hostOf(url)} answered with something that is not valid JSON`,
    )
  } finally {
    await transport.close()
  }
}
