import { checkBaseUrl } from '../client/address.ts'
import { checkKey, requirePrivateWay } from '../client/key-check.ts'
import { SvcError, usageError } from '../core/errors.ts'
import type { ListOperation, Operations } from './calls.ts'
import type { Connection } from './connection.ts'
import { asLibraryCall, inTermsOfOptions } from './error.ts'
import { type NamesOf, requireKnown } from './known-fields.ts'
import { operationIds } from './operation-ids.ts'
import type { CallOptions, ClientOptions } from './options.ts'

type Rows<K extends ListOperation> = Awaited<ReturnType<Operations[K]>>

/** A client of one service. Each operation is a method that returns its data, or throws an `SvcError`. */
export type Client = Operations & {
  /** Yields a list page by page; `limit` is the number of rows in each, 1,000 by default. The method of the list returns all rows at once. */
  pages<K extends ListOperation>(
    operation: K,
    input: Parameters<Operations[K]>[0],
    options?: Pick<CallOptions, 'signal'>,
  ): AsyncGenerator<Rows<K>, void>
  /** The public keys of the service, for `verifyReceipt`. Keep a copy, so that you need not trust the service later. */
  keySet(options?: Pick<CallOptions, 'signal'>): Promise<unknown>
  /** The origin of the service, which its receipts name as their issuer. */
  readonly origin: string
  /** Closes the connections. Idle connections do not keep a program running. */
  close(): Promise<void>
}

/** Reads the key before each request, and checks that it can be sent to the address. */
const keyReader = ({ apiKey, apiKeyFile }: ClientOptions): ((url: string) => Promise<string>) => {
  if ((apiKey === undefined) === (apiKeyFile === undefined))
    throw usageError('createClient requires either apiKey or apiKeyFile')
  const read = async (): Promise<[key: string, where: string]> => {
    if (apiKeyFile === undefined)
      return [typeof apiKey === 'function' ? await apiKey() : apiKey!, 'in apiKey']
    const { readFile } = await import('node:fs/promises')
    const text = await readFile(apiKeyFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new SvcError('usage', 'no_key', `The key file ${apiKeyFile} cannot be read (${error.code})`, {
        hint: 'Check apiKeyFile',
        cause: error,
      })
    })
    return [text.trim(), `in ${apiKeyFile}`]
  }
  return async (url) => {
    requirePrivateWay(new URL(url))
    return checkKey(...(await read()))
  }
}

const optionNames: NamesOf<ClientOptions> = {
  baseUrl: true,
  apiKey: true,
  apiKeyFile: true,
  ca: true,
  timeoutMs: true,
}

/** Creates a client. It connects when it is first used; options that cannot be right throw at once. */
export const createClient = (options: ClientOptions): Client => {
  // A program in JavaScript may pass an environment variable that is not set.
  if (typeof options?.baseUrl !== 'string') throw usageError('createClient requires baseUrl')
  requireKnown('createClient', options, optionNames)
  const baseUrl = checkBaseUrl(options.baseUrl, 'baseUrl')
  const { origin } = new URL(baseUrl)
  const apiKey = keyReader(options)
  const { ca, timeoutMs } = options
  if (timeoutMs !== undefined && !(timeoutMs > 0))
    throw usageError(`timeoutMs must be a number of milliseconds above 0, not ${timeoutMs}`)

  const open = async (): Promise<Connection> => {
    const { connect } = await import('./connection.ts')
    return connect({ baseUrl, apiKey, ca, timeoutMs })
  }
  let opened: Promise<Connection> | undefined
  const use = (): Promise<Connection> => (opened ??= open())

  const methods = operationIds.map((id) => [
    id,
    (input?: Record<string, unknown>, callOptions?: CallOptions) =>
      asLibraryCall(async () => (await use()).call(id, input, callOptions)),
  ])

  return {
    // The table is the source of both, so the names and types agree.
    ...(Object.fromEntries(methods) as Operations),
    async *pages(id, input, callOptions) {
      try {
        for await (const rows of (await use()).pages(id, input, callOptions)) yield rows as Rows<typeof id>
      } catch (error) {
        throw inTermsOfOptions(error)
      }
    },
    keySet: ({ signal } = {}) =>
      asLibraryCall(async () => (await use()).json(`${origin}/.well-known/jwks.json`, signal)),
    origin,
    close: async () => {
      const closing = opened
      opened = undefined
      await (await closing)?.close()
    },
  }
}
