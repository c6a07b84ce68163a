import { unexpectedAnswer, usageError } from '../../core/errors.ts'
import { exitCode, exitOfAnswer } from '../../core/exit-codes.ts'
import { isSeen, safeJson, safeText, seenJson } from '../../core/safe-text.ts'
import { linkedPage } from '../../client/paging.ts'
import { belowRoot, rawUrl } from '../../client/request.ts'
import { answerFieldsWith } from '../../contract/describe.ts'
import { parseJson } from '../../core/parse-json.ts'
import type { HttpResponse } from '../../core/transport.ts'
import type { Client, RawRequest } from '../../client/client.ts'
import { isRecord } from '../../core/is-record.ts'
import { bodyFlags, readBody, type BodyFlags } from './body-fields.ts'
import { defineCommand } from '../program/define-command.ts'
import { confirmWrite } from './confirm.ts'
import { many } from './flags.ts'
import type { Context } from '../context/context.ts'
import type { Envelope } from '../terminal/payload.ts'

const isEnvelope = (value: unknown): value is Envelope =>
  isRecord(value) && typeof value.status === 'string' && typeof value.message === 'string'

/** The fields of the answer that the service shows only once. */
const secretsOf = async (method: string, path: string, context: Context): Promise<Set<string>> => {
  const { operationAt } = await import('./raw-operation.ts')
  const { baseUrl } = await context.settings()
  const operation = operationAt(method, path, baseUrl.value)
  if (operation && operation.effect !== 'read') context.changed = true
  return operation ? answerFieldsWith(operation, 'secret') : new Set()
}

/** Prints the body as the service sent it, with a final newline; indents JSON on a terminal, and escapes invisible characters. */
const showRaw = (body: string, { io: { stdout } }: Context): void => {
  if (body === '') return
  const value = stdout.isTTY || !isSeen(body) ? parseJson(body) : undefined
  const json = stdout.isTTY ? safeJson(value, 2) : seenJson(body)
  const text = value === undefined ? body : json
  stdout.write(`${stdout.isTTY ? safeText(text) : text}${text.endsWith('\n') ? '' : '\n'}`)
}

/**
 * Shows the answer of any route: the whole envelope as JSON, YAML and to --jq, its data as rows. A failure is
 * shown unchanged.
 */
const showAnswer = async (
  answer: HttpResponse,
  { method, path }: { method: string; path: string },
  context: Context,
): Promise<void> => {
  const { status, body } = answer
  const { output: format, jq } = context.globals
  const shaped = format !== undefined || jq !== undefined
  const once = shaped || context.changed ? await secretsOf(method, path, context) : new Set<string>()
  if (!shaped || status >= 300 || body === '') {
    if (once.size > 0) context.once = `${body}\n`
    return showRaw(body, context)
  }
  const output = await context.output()
  const value = parseJson(body)
  if (value === undefined) {
    const error = unexpectedAnswer('The answer is not valid JSON', { hint: 'Remove -o and --jq to see it' })
    if (!context.changed) throw error
    showRaw(body, context)
    throw (await import('../terminal/error.ts')).notShownAsRequested(context, error)
  }
  const whole = !['table', 'csv', 'tsv', 'ndjson', 'id'].includes(format ?? '')
  if (isEnvelope(value)) return output.show(value, { document: true, whole, once })
  return output.report('', value, { document: true, once })
}

/** The rows of a page: the body itself, or the data of its envelope. */
const rowsIn = (body: unknown): unknown[] | undefined => {
  const rows = isEnvelope(body) ? body.data : body
  return Array.isArray(rows) ? rows : undefined
}

/**
 * Fetches every page of a list and returns the first answer with all rows in it. Returns an answer that is not a list, or a page
 * that fails, instead.
 */
const everyPage = async (
  client: Client,
  request: RawRequest,
  { baseUrl, signal }: { baseUrl: string; signal: AbortSignal },
): Promise<HttpResponse> => {
  let { path } = request
  const seen = new Set<string>()
  const all: unknown[] = []
  let first: { answer: HttpResponse; body: unknown } | undefined
  for (;;) {
    seen.add(path)
    const answer = await client.raw({ ...request, path }, { signal })
    const body = parseJson(answer.body)
    const rows = answer.status < 300 ? rowsIn(body) : undefined
    if (!rows) return answer
    first ??= { answer, body }
    for (const row of rows) all.push(row)
    const next = linkedPage(answer.headers['link'], rawUrl(baseUrl, path))
    const query = next && new URL(next).search
    path = `${path.split('?')[0]}${query ?? ''}`
    if (next === undefined || seen.has(path)) break
  }
  const { answer, body } = first
  return { ...answer, body: JSON.stringify(isEnvelope(body) ? { ...body, data: all } : all) }
}

type Options = BodyFlags & {
  method?: string
  header?: string[]
  include?: boolean
  paginate?: boolean
  dryRun?: boolean
  confirm?: string
}

const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']

const headersOf = (lines: string[] = []): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      const name = line.slice(0, at).trim().toLowerCase()
      if (!/^[a-z0-9-]+$/.test(name)) throw usageError(`--header must be name:value, not "${line}"`)
      if (name === 'x-api-key' || name === 'authorization')
        throw usageError(`A secret cannot be an argument: remove ${name}`, 'svc help environment')
      return [name, line.slice(at + 1).trim()]
    }),
  )

/** `svc api PATH`: calls any route and prints the body of the answer, whatever its status is. */
export const registerApi = defineCommand<Options>({
  usage: '<path> [flags]',
  args: ['[path]'],
  options: {
    '-X, --method <method>': 'Method; default: GET, or POST with a body',
    '-H, --header <name:value>': many('Additional header'),
    '-i, --include': 'Show the status and the headers too',
    '--paginate': 'Fetch all pages of a list and show them as one',
    '--dry-run': 'Print the request and send nothing',
    '--confirm <path>': 'In a protected profile, for a DELETE: the path',
    ...bodyFlags,
  },
  examples: [
    'svc api /organizations',
    'svc api /organization/create -f name=Acme',
    "svc api /organizations --paginate --jq '.data[].slug'",
  ],
  hasId: true,
  action: async ({ args: [typed], options }, context) => {
    if (!typed?.startsWith('/') || typed.startsWith('//')) {
      const path = /^[\w-]/.test(typed ?? '') && !typed!.includes('://') ? `/${typed}` : '/organizations'
      throw usageError(
        'The path of svc api must start with /',
        await context.command!.again({ args: [path] }),
      )
    }
    const body = await readBody(options, context.io)
    const method = (options.method ?? (body ? 'POST' : 'GET')).toUpperCase()
    if (!methods.includes(method)) throw usageError(`--method must be ${methods.join(', ')}`)
    if (options.paginate && method !== 'GET')
      throw usageError(`--paginate requires GET, not ${method}`, 'Remove --paginate')

    const { baseUrl, protected: isProtected } = await context.settings()
    const path = belowRoot(baseUrl.value, typed)
    if (options.dryRun) {
      const { showPlan } = await import('./dry-run.ts')
      const url = rawUrl(baseUrl.value, path)
      const plan = { method, url, headers: headersOf(options.header), ...(body && { body }) }
      return showPlan(plan, {}, context)
    }
    if (method === 'DELETE' && isProtected) {
      const write = { what: `DELETE ${typed}`, name: typed, declined: 'Nothing was sent' }
      await confirmWrite(write, options, context)
    }
    const client = await context.client()
    const request: RawRequest = {
      method,
      path,
      headers: headersOf(options.header),
      body: body && JSON.stringify(body),
      // Any other method may notify a person.
      effect: ['GET', 'HEAD', 'OPTIONS'].includes(method) ? 'read' : 'notifies',
    }
    const { signal, stdout } = context.io
    const answer = options.paginate
      ? await everyPage(client, request, { baseUrl: baseUrl.value, signal })
      : await client.raw(request, { signal })
    if (options.include) {
      const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\n`)
      const text = headers.join('')
      stdout.write(`${answer.status}\n${stdout.isTTY ? safeText(text) : text}\n`)
    }
    await showAnswer(answer, request, context)
    const url = rawUrl(baseUrl.value, path)
    const isPart = method === 'GET' && answer.status < 300 && linkedPage(answer.headers['link'], url)
    if (isPart && !options.paginate)
      (await context.output()).warn(`More: ${await context.command!.again({ plus: ['--paginate'] })}`)
    if (answer.status >= 300) context.exitCode = exitCode(exitOfAnswer(answer.status))
  },
})
