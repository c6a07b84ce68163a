import type { Context } from 'hono'
import type { Operation } from '../../contract/operation.ts'
import { batch } from '../../contract/batch.ts'
import { coreOf, fieldSchemas, partsOf, type Schema } from '../../contract/schema.ts'
import { fromUtf8 } from '../../core/exact-json.ts'
import { Refusal } from '../../core/refusal.ts'

/** The largest body that a route accepts. Parsing it must not block other requests for long. */
export type BodyLimit = { kib: number; values: number }

/** For callers without a key, or with the session of the approver page, which sends little. */
const small: BodyLimit = { kib: 32, values: 1_000 }
const standard: BodyLimit = { kib: 256, values: 10_000 }
/** For lists of a thousand rules. */
const large: BodyLimit = { kib: 1_024, values: 50_000 }
/** For the most rows that one approval covers. */
const ofBatch: BodyLimit = { kib: 4_096, values: 200_000 }

/** A subject of 32 KiB, with room for escapes and the protocol. The caller may be anonymous. */
export const toolCallLimit: BodyLimit = { kib: 128, values: 2_500 }

const isListOfObjects = (schema: Schema): boolean => {
  const { element } = coreOf(schema)
  return element !== undefined && partsOf(element).type === 'object'
}

/** The fields of an operation that are lists of objects. */
export const listsOf = ({ input }: Pick<Operation, 'input'>): string[] =>
  Object.entries(fieldSchemas(input)).flatMap(([name, field]) => (isListOfObjects(field) ? [name] : []))

export const isBatch = ({ input }: Pick<Operation, 'input'>): boolean => input === batch.createBatch.input

export const bodyLimitOf = (operation: Operation): BodyLimit => {
  if (operation.open || operation.session) return small
  if (isBatch(operation)) return ofBatch
  return listsOf(operation).length > 0 ? large : standard
}

const maxDepth = 32

// A body that is too large is read up to here and discarded: most clients send all of it before they read the response.
const readAtMost = 1024 * 1024

const malformed = (message: string, hint?: string): Refusal =>
  new Refusal(400, 'malformed', message, { hint })

const tooLarge = (message: string): Refusal =>
  new Refusal(413, 'too_large', message, { hint: 'Send less in one request' })

const tooManyBytes = ({ kib }: BodyLimit): Refusal =>
  tooLarge(`The body is larger than ${kib} KiB, the limit of this route`)

/** The content length; undefined if the body is chunked. */
const lengthOf = (context: Context): number | undefined => {
  const length = context.req.header('content-length')
  if (length !== undefined) return Number(length)
  return context.req.header('transfer-encoding') === undefined ? 0 : undefined
}

const mostOf = ({ kib }: BodyLimit): number => Math.max(readAtMost, kib * 1024)

const readCounted = async (context: Context, limit: BodyLimit): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of context.req.raw.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > mostOf(limit)) break
    if (bytes <= limit.kib * 1024) chunks.push(chunk)
  }
  if (bytes > limit.kib * 1024) throw tooManyBytes(limit)
  return Buffer.concat(chunks)
}

const requireJson = (context: Context): void => {
  const [type, ...parameters] = (context.req.header('content-type') ?? '').toLowerCase().split(';')
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='))
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset)
  if (type?.trim() !== 'application/json' || !utf8)
    throw new Refusal(415, 'unsupported_media_type', 'The body must be JSON in UTF-8', {
      hint: 'Send the header content-type: application/json',
    })
  const encoding = context.req.header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity')
    throw new Refusal(415, 'unsupported_encoding', 'The body must not be compressed')
}

const decode = (bytes: Uint8Array): string => {
  try {
    return fromUtf8(bytes)
  } catch {
    throw malformed('The body is not UTF-8')
  }
}

const parse = (text: string): unknown => {
  if (text.startsWith('\uFEFF'))
    throw malformed('The body starts with a byte order mark', 'Save it as UTF-8 without BOM')
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('The body is not JSON')
  }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openings = new Set([0x5b, 0x7b])
const closings = new Set([0x5d, 0x7d])

/**
 * The number of values and the depth of JSON, counted by its punctuation: never less than a parser would find, and far
 * cheaper. A small text can contain so many values that parsing it blocks all other requests.
 */
export const shapeOf = (json: Uint8Array): { values: number; depth: number } => {
  let values = 1
  let open = 0
  let depth = 0
  let inText = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]!
    if (inText) {
      if (byte === backslash) i++
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if (byte === comma) values++
    else if (openings.has(byte)) {
      values++
      open++
      if (open > depth) depth = open
    } else if (closings.has(byte)) open--
  }
  return { values, depth }
}

/** Runs before the parser, because parsing is what would block the service. */
const checkShape = (bytes: Uint8Array, limit: BodyLimit): void => {
  const { values, depth } = shapeOf(bytes)
  if (depth > maxDepth) throw malformed(`The body is nested deeper than ${maxDepth} levels`)
  if (values > limit.values)
    throw tooLarge(`The body contains more than ${limit.values} values, the limit of this route`)
}

/** `JSON.parse` accepts this field name, and code that copies the field would change a prototype. */
const refuseProto = (body: unknown): void => {
  const left = [body]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) throw malformed('The body contains a field __proto__')
    for (const inner of Object.values(value)) left.push(inner)
  }
}

const readBytes = async (
  context: Context,
  limit: BodyLimit,
  length: number | undefined,
): Promise<Uint8Array> => {
  try {
    if (!length || length > limit.kib * 1024) return await readCounted(context, limit)
    return new Uint8Array(await context.req.arrayBuffer())
  } catch (error) {
    if (error instanceof Refusal) throw error
    // The client has gone; this reaches only the log.
    throw new Refusal(400, 'incomplete_body', 'The connection ended before the body was complete')
  }
}

/** The value of a JSON body; undefined without a body. Throws a Refusal: 400, 413 or 415. */
export const readJson = async (context: Context, limit: BodyLimit): Promise<unknown> => {
  const length = lengthOf(context)
  if (length === 0 && !context.req.raw.body) return undefined
  if (length !== undefined && length > mostOf(limit)) throw tooManyBytes(limit)
  const bytes = await readBytes(context, limit, length)
  // Node gives every DELETE and POST a body stream, so only its length shows that none was sent.
  if (bytes.byteLength === 0) return undefined
  requireJson(context)
  checkShape(bytes, limit)
  const body = parse(decode(bytes))
  refuseProto(body)
  return body
}

/** The fields of an HTML form, as OAuth sends them. Throws a Refusal: 400, 413 or 415. */
export const readForm = async (context: Context, limit: BodyLimit): Promise<URLSearchParams> => {
  const type = (context.req.header('content-type') ?? '').toLowerCase().split(';')[0]!.trim()
  if (type !== 'application/x-www-form-urlencoded')
    throw new Refusal(415, 'unsupported_media_type', 'The body must be a form', {
      hint: 'Send the header content-type: application/x-www-form-urlencoded',
    })
  const length = lengthOf(context)
  if (length !== undefined && length > mostOf(limit)) throw tooManyBytes(limit)
  const form = new URLSearchParams(decode(await readBytes(context, limit, length)))
  if (form.size > limit.values) throw tooLarge(`The body contains more than ${limit.values} fields`)
  return form
}

/** The fields of a JSON body; none without a body. Throws a Refusal: 400, 413 or 415. */
export const readBody = async (context: Context, limit: BodyLimit): Promise<Record<string, unknown>> => {
  const body = await readJson(context, limit)
  if (body === undefined) return {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw malformed('The body must be a JSON object', 'Send {"field": "value"}')
  return body as Record<string, unknown>
}

const noBody = ({ req }: Context): Refusal =>
  malformed(`${req.method} does not accept a body`, 'Put the values into the query')

export const refuseBody = (context: Context): void => {
  if (lengthOf(context) !== 0) throw noBody(context)
}

/** Unlike `refuseBody`, accepts an empty object: some clients send JSON with every request. */
export const refuseFields = async (context: Context, limit: BodyLimit): Promise<void> => {
  const body = await readBody(context, limit)
  if (Object.keys(body).length > 0) throw noBody(context)
}
