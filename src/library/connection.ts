import { noData } from '../client/answer-data.ts'
import type { Answer } from '../client/client.ts'
import { getPublicJson } from '../client/public-json.ts'
import { createClient } from '../client/rest.ts'
import { createTransport } from '../client/undici-transport.ts'
import { answeredFields } from '../contract/describe.ts'
import type { Operation } from '../contract/operation.ts'
import { table } from '../contract/table.ts'
import { usageError } from '../core/errors.ts'
import { isRecord } from '../core/is-record.ts'
import { type NamesOf, requireKnown } from './known-fields.ts'
import type { CallOptions } from './options.ts'

// What a client loads when it is first used.

type Options = {
  baseUrl: string
  apiKey(url: string): Promise<string>
  ca: string | undefined
  timeoutMs: number | undefined
}

type Fields = Record<string, unknown>

/** The data of an answer. Missing data means unknown, not empty. */
const dataIn = (id: string, operation: Operation, { envelope }: Answer): unknown => {
  const { data } = envelope
  if (answeredFields(operation).length === 0 || isRecord(data) || Array.isArray(data)) return data
  throw noData(operation, id, 'Check that baseUrl is the right service')
}

const operationOf = (id: string): Operation => {
  const operations: Record<string, Operation> = table
  if (Object.hasOwn(operations, id)) return operations[id]!
  throw usageError(`There is no operation ${JSON.stringify(id)}`)
}

const optionNames: NamesOf<CallOptions> = { signal: true, idempotencyKey: true }

export const connect = ({ baseUrl, apiKey, ca, timeoutMs }: Options) => {
  const transport = createTransport({
    env: process.env,
    ca,
    timeoutMs: timeoutMs === undefined ? undefined : { headers: timeoutMs, body: timeoutMs },
  })
  const rest = createClient({ baseUrl, apiKey, keyHint: 'Check the API key', transport })
  return {
    call: async (id: string, input: Fields = {}, options: CallOptions = {}): Promise<unknown> => {
      const operation = operationOf(id)
      requireKnown(id, options, optionNames)
      return dataIn(id, operation, await rest.call(operation, input, options))
    },
    async *pages(id: string, input: Fields = {}, options: CallOptions = {}): AsyncGenerator<unknown, void> {
      const operation = operationOf(id)
      for await (const page of rest.pages(operation, input, options)) yield dataIn(id, operation, page)
    },
    /** JSON from a public address. */
    json: (url: string, signal?: AbortSignal) => getPublicJson(transport, url, signal),
    close: () => rest.close(),
  }
}

export type Connection = ReturnType<typeof connect>
