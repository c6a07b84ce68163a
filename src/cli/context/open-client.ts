import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/rest.ts'
import { createTransport } from '../../client/undici-transport.ts'
import { keepBaselineWasm } from '../../core/baseline-wasm.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Operation } from '../../contract/operation.ts'
import type { ToolClient } from '../../tools/client/tool-client.ts'
import { getPublicJson } from '../../client/public-json.ts'
import { readBytes } from '../terminal/input-file.ts'
import type { Globals, Io, Run } from '../terminal/io.ts'
import type { Settings } from './settings.ts'

type Options = {
  /** With the API key. */
  own: Client
  /** With the ask key; the same client if one key does both. */
  asking: Client
  /** Whether requests of other keys stay hidden, as they are from an agent. */
  askingOnly: boolean
  /** What to do about a key without the scope `ask`. */
  hint: string
}

/** `one` is a call about one request, which uses the ask key. */
const kindOf = ({ path, open, effect }: Operation): 'other' | 'list' | 'new' | 'one' => {
  if (open || !path.startsWith('/svc/v1/approvals')) return 'other'
  if (path.includes('{')) return 'one'
  return effect === 'read' ? 'list' : 'new'
}

const isRefused = (error: unknown, code: string): error is SvcError =>
  error instanceof SvcError && error.code === code

/**
 * One client with two keys. The ask key creates, reads and ends approval requests. If it does not know a request,
 * another key created it, so the client tries the API key. The API key does lists and all other operations.
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

  const call: Client['call'] = async (...args) => {
    const kind = kindOf(args[0])
    if (own === asking) return kind === 'new' ? ask(...args) : own.call(...args)
    if (kind === 'other') return own.call(...args)
    if (kind === 'new') return ask(...args)
    const [first, second, passes] =
      kind === 'one' ? [asking, own, 'not_found'] : [own, asking, 'scope_missing']
    try {
      return await first.call(...args)
    } catch (error) {
      if (askingOnly || !isRefused(error, passes)) throw error
      return second.call(...args)
    }
  }

  const pages: Client['pages'] = async function* (...args) {
    try {
      yield* own.pages(...args)
    } catch (error) {
      if (kindOf(args[0]) !== 'list' || !isRefused(error, 'scope_missing')) throw error
      yield* asking.pages(...args)
    }
  }

  return { ...own, call, pages }
}

export const readCa = (file: string, flag = '--cacert'): string =>
  readBytes(file, { cwd: '.' }, { flag, mostMiB: 4, hint: `${flag} FILE must be a PEM file` }).toString(
    'utf8',
  )

/** A transport without credentials; `cacert` is a file with the CA to trust. */
export const openTransport = (
  io: Io,
  cacert: string | undefined,
  options: Pick<Parameters<typeof createTransport>[0], 'onSent' | 'timeoutMs'> = {},
): ReturnType<typeof createTransport> => {
  keepBaselineWasm()
  return createTransport({
    ...options,
    env: io.env,
    traceparent: io.env['TRACEPARENT'],
    ca: cacert === undefined ? undefined : readCa(cacert),
  })
}

type Opening = {
  /** The id of the approved request, sent with each write. */
  approval?: () => string | undefined
  /** The reason for the writes of this run. */
  reason?: () => string | undefined
  /** For the tools of an agent. */
  forAgent?: boolean
  /** Called after each request was sent. */
  onSent?: () => void
}

/** The client of this run, with its address, keys, proxy and CA from the settings. */
export const openClient = (
  io: Io,
  globals: Globals,
  settings: Settings,
  { approval, reason, forAgent = false, onSent }: Opening = {},
): Client => {
  const transport = openTransport(io, settings.cacert?.value, { onSent })
  const { baseUrl, keyHint, apiKey, askKey, askKeyHint, profile } = settings
  const common = {
    baseUrl: baseUrl.value,
    transport,
    approval,
    reason,
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

/** Calls `use` with a client that has only the ask key; undefined without such a key. */
export const withAskKey = async <T>(
  { io, globals, settings: read }: Pick<Run, 'io' | 'globals'> & { settings(): Promise<Settings> },
  use: (client: Client) => Promise<T>,
): Promise<T | undefined> => {
  const settings = await read()
  const { askKey, askKeyHint } = settings
  if (!askKey) return undefined
  const own = { apiKey: askKey, keyHint: askKeyHint, askKey: undefined }
  const client = openClient(io, globals, { ...settings, ...own })
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

/** The state in the answer of `/health`. Another program may have a page of that name, without `ok`. */
export const readHealth = (answer: unknown): 'healthy' | 'unhealthy' | 'unknown' => {
  const { ok } = (answer ?? {}) as { ok?: unknown }
  if (ok === true) return 'healthy'
  return ok === false ? 'unhealthy' : 'unknown'
}

/** Of a small document that every server has ready. */
const documentMs = 10_000

/** JSON from a public address: sends no credentials and follows no redirect. `cacert` is a file with the CA to trust. */
export const getJson = async (
  { io }: Pick<Run, 'io'>,
  url: string,
  cacert: string | undefined,
): Promise<unknown> => {
  const transport = openTransport(io, cacert, { timeoutMs: { headers: documentMs, body: documentMs } })
  try {
    return await getPublicJson(transport, url, io.signal)
  } finally {
    await transport.close()
  }
}

/** The tools of a server, as this bearer may use them. */
export const listTools = async (
  server: { url: string; token: string | undefined; name: string; cacert: string | undefined },
  { io }: Pick<Run, 'io'>,
): ReturnType<ToolClient['list']> => {
  const { createToolClient } = await import('../../tools/client/tool-client.ts')
  const transport = openTransport(io, server.cacert)
  const tools = createToolClient({ ...server, transport, signal: io.signal })
  try {
    return await tools.list()
  } finally {
    await tools.close()
    await transport.close()
  }
}
