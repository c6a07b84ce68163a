import { foldedName } from '../../../core/folded-name.ts'
import { isRecord } from '../../../core/is-record.ts'
import { parseJson } from '../../../core/parse-json.ts'
import { NotStrict, parseStrict } from './strict-json.ts'
import { fromUtf8, walkJson } from '../../../core/exact-json.ts'

export type Id = string | number

// A message that two parsers could read differently is refused without its fields. If every parser finds the same id, the
// refusal has it, so that the client does not wait for an answer.

/** Every program reads and writes such an id the same way, on one line. */
const isPlain = (value: unknown): value is Id =>
  Number.isSafeInteger(value) || (typeof value === 'string' && /^[\x20-\x7e]{1,256}$/.test(value))

/** The names of the outermost members, each as often as it appears. */
const outermostNames = (json: string): string[] => {
  const names: string[] = []
  walkJson(json, { member: (name, depth) => depth === 1 && names.push(JSON.parse(name) as string) })
  return names
}

/** The id of a refused message and whether it is an answer; without an id that every parser finds, neither. */
const refusedId = (bytes: Buffer): { id: Id | undefined; isResponse: boolean } => {
  const none = { id: undefined, isResponse: false }
  try {
    const json = fromUtf8(bytes)
    const fields: unknown = JSON.parse(json)
    if (!isRecord(fields) || !isPlain(fields['id'])) return none
    const names = outermostNames(json).map(foldedName)
    if (names.filter((name) => name === 'id').length !== 1) return none
    return { id: fields['id'], isResponse: !names.includes('method') }
  } catch {
    return none
  }
}

export type Fields = Record<string, unknown>

/** A call of a tool, and the line with it. */
export type ToolCall = {
  id: Id
  name: string
  arguments: Fields
  /** The other members of the call that the approver has to see; those of the protocol itself are left out. */
  parameters: Fields | undefined
  progressToken: Id | undefined
  /** The members of `_meta` with which the protocol describes the client. The revision of 2026 requires them in each request. */
  envelope: Fields
  bytes: Buffer
}

/** A message of the client. */
export type Message =
  | { kind: 'call'; call: ToolCall }
  | { kind: 'request'; id: Id; method: string; params: Fields }
  | { kind: 'notification'; method: string; params: Fields }
  | { kind: 'response'; id: Id }
  /** `id` is the id of the request if it is known. A refused response has to be answered to the server. */
  | { kind: 'refused'; why: string; id: Id | undefined; isResponse: boolean }

const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value)

const members = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])

const envelopeMeta = /^io\.modelcontextprotocol\/(?:protocolVersion|clientInfo|clientCapabilities)$/

/** Whether a member of `_meta` says nothing to the tool, in the form that the protocol gives it: the approver need not see it. */
const isOfProtocol = (name: string, value: unknown): boolean => {
  if (name === 'progressToken') return isId(value)
  if (/^(?:traceparent|tracestate|io\.modelcontextprotocol\/logLevel)$/.test(name))
    return typeof value === 'string'
  return envelopeMeta.test(name)
}

const withMembers = (fields: Fields, wanted: (name: string, value: unknown) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => wanted(name, value)))

const callIn = (id: Id, params: Fields, bytes: Buffer): ToolCall => {
  const stray = Object.keys(params).find(
    (name) => ['name', 'arguments', '_meta'].includes(foldedName(name)) && name !== foldedName(name),
  )
  if (stray !== undefined)
    throw new NotStrict(`contains params.${stray}, which a server could take for params.${foldedName(stray)}`)
  const { name, arguments: given = {}, _meta: meta = {}, ...more } = params
  if (typeof name !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(name))
    throw new NotStrict('must name a tool in params.name, with 1 to 128 printable ASCII characters')
  if (!isRecord(given)) throw new NotStrict('must have an object in params.arguments')
  if (!isRecord(meta)) throw new NotStrict('must have an object in params._meta')
  const own = withMembers(meta, (member, value) => !isOfProtocol(member, value))
  const parameters = { ...more, ...(Object.keys(own).length > 0 && { _meta: own }) }
  const { progressToken } = meta
  return {
    id,
    name,
    arguments: given,
    parameters: Object.keys(parameters).length > 0 ? parameters : undefined,
    progressToken: isId(progressToken) ? progressToken : undefined,
    envelope: withMembers(meta, (member) => envelopeMeta.test(member)),
    bytes,
  }
}

/**
 * Besides `tools/call`, what clients send in any revision of MCP, or for its tasks. A careless server could take any other method,
 * such as `call_tool`, for a call.
 */
const knownMethods = new Set(
  (
    'initialize ping server/discover tools/list completion/complete logging/setLevel prompts/list prompts/get ' +
    'resources/list resources/templates/list resources/read resources/subscribe resources/unsubscribe ' +
    'subscriptions/listen tasks/list tasks/get tasks/result tasks/update tasks/cancel notifications/initialized ' +
    'notifications/cancelled notifications/progress notifications/roots/list_changed notifications/tasks/status'
  ).split(' '),
)

const refuse = (why: string): never => {
  throw new NotStrict(why)
}

const classify = (message: Fields, bytes: Buffer): Message => {
  const { jsonrpc, id, method, params = {} } = message
  const stray = Object.keys(message).find((name) => !members.has(name))
  if (stray !== undefined) refuse(`contains "${stray.slice(0, 40)}", which JSON-RPC does not define`)
  if (jsonrpc !== '2.0') refuse('must have "jsonrpc": "2.0"')
  if ('id' in message && !isId(id)) refuse('must have text or a whole number as id')
  const answers = ['result', 'error'].filter((name) => name in message)
  if (!('method' in message)) {
    if (answers.length !== 1 || !('id' in message) || 'params' in message)
      refuse('is neither a request nor an answer')
    return { kind: 'response', id: id as Id }
  }
  if (typeof method !== 'string' || answers.length > 0) refuse('is neither a request nor an answer')
  if (!isRecord(params)) refuse('must have an object in params')
  const [name, fields] = [method as string, params as Fields]
  if (name === 'tools/call') {
    if (!('id' in message)) refuse('must have an id, because it calls a tool')
    return { kind: 'call', call: callIn(id as Id, fields, bytes) }
  }
  if (!knownMethods.has(name))
    refuse(`has the method ${JSON.stringify(name.slice(0, 60))}, which is not one of MCP`)
  return 'id' in message
    ? { kind: 'request', id: id as Id, method: name, params: fields }
    : { kind: 'notification', method: name, params: fields }
}

/** Reads one line of the client. Whatever the server could read differently is refused. */
export const readMessage = (bytes: Buffer): Message => {
  let fields: Fields | undefined
  try {
    const value = parseStrict(bytes)
    if (Array.isArray(value))
      throw new NotStrict('is a batch, which MCP no longer has; send one message a line')
    if (!isRecord(value)) throw new NotStrict('is not an object')
    fields = value
    return classify(value, bytes)
  } catch (error) {
    if (!(error instanceof NotStrict)) throw error
    const { message: why } = error
    if (!fields) return { kind: 'refused', why, ...refusedId(bytes) }
    const { id } = fields
    const known = isId(id) ? id : undefined
    return { kind: 'refused', why, id: known, isResponse: known !== undefined && !('method' in fields) }
  }
}

/**
 * Reads one line of the server; undefined for what is no message, or what a client could take for the answer to another request,
 * such as to a call that waits for a person.
 */
export const readServerMessage = (bytes: Buffer): Fields | undefined => {
  const json = bytes.toString('utf8')
  const message = parseJson(json)
  if (!isRecord(message)) return undefined
  const names = outermostNames(json)
  const isAmbiguous =
    new Set(names.map(foldedName)).size < names.length ||
    names.some((name) => !members.has(name) && members.has(foldedName(name)))
  const isBoth = 'method' in message && ('result' in message || 'error' in message)
  return isAmbiguous || isBoth ? undefined : message
}
