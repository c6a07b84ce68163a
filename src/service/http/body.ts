import type { Context } from 'hono'
import { Refusal } from '../refusal.ts'

const maxBytes = 1024 * 1024
const maxDepth = 32

const malformed = (message: string, hint?: string): Refusal =>
  new Refusal(400, 'malformed', message, { hint })

const tooLarge = (): Refusal =>
  new Refusal(413, 'too_large', 'The body is larger than 1 MiB', { hint: 'Send it in smaller parts' })

/** Bytes that the request announces; undefined when it is chunked. */
const lengthOf = (context: Context): number | undefined => {
  const length = context.req.header('content-length')
  if (length !== undefined) return Number(length)
  return context.req.header('transfer-encoding') === undefined ? 0 : undefined
}

const readCounted = async (context: Context): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of context.req.raw.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
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

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
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

/** Refuses what a parser takes and a program trips over: deep nesting, names that reach a prototype. */
const refuseTraps = (body: unknown): void => {
  let level: unknown[] = [body]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw malformed(`The body is nested deeper than ${maxDepth} levels`)
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      if (Object.hasOwn(value, '__proto__')) throw malformed('The body has a field __proto__')
      next.push(...Object.values(value))
    }
    level = next
  }
}

/** What a JSON body holds; undefined when there is no body. Fails with a Refusal: 400, 413 or 415. */
export const readJson = async (context: Context): Promise<unknown> => {
  const length = lengthOf(context)
  if (length === 0 && !context.req.raw.body) return undefined
  if (length !== undefined && length > maxBytes) throw tooLarge()
  const bytes =
    length === undefined || length === 0
      ? await readCounted(context)
      : new Uint8Array(await context.req.arrayBuffer())
  // Over HTTP every DELETE and POST has a body to read, so only this shows that it was sent none.
  if (bytes.byteLength === 0) return undefined
  requireJson(context)
  const body = parse(decode(bytes))
  refuseTraps(body)
  return body
}

/** The fields of a JSON body; none when there is no body. Fails with a Refusal: 400, 413 or 415. */
export const readBody = async (context: Context): Promise<Record<string, unknown>> => {
  const body = await readJson(context)
  if (body === undefined) return {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw malformed('The body must be a JSON object', 'Send {"field": "value"}')
  return body as Record<string, unknown>
}

const noBody = ({ req }: Context): Refusal =>
  malformed(`${req.method} takes no body`, 'Put the values into the query')

/** GET takes its values from the address. */
export const refuseBody = (context: Context): void => {
  if (lengthOf(context) !== 0) throw noBody(context)
}

/** DELETE too, and clients that send JSON with every request send it an empty object. */
export const refuseFields = async (context: Context): Promise<void> => {
  const body = await readBody(context)
  if (Object.keys(body).length > 0) throw noBody(context)
}
