import { answerFieldsWith } from '../../contract/describe.ts'
import { SvcError } from '../../core/errors.ts'
import { parseJson } from '../../core/parse-json.ts'
import { isSeen, safeJson, safeText, seenJson } from '../../core/safe-text.ts'
import type { Client } from '../../client/client.ts'
import { linkedPage } from '../../client/paging.ts'
import { rawUrl } from '../../client/request.ts'
import type { Context } from '../context/context.ts'
import type { Envelope } from '../terminal/payload.ts'
import { isRecord } from '../../core/is-record.ts'

export type RawAnswer = { status: number; headers: Record<string, string>; body: string }

/** Whether a flag says how the answer is to be shown. */
export const isShaped = ({ globals: { output, json, jq } }: Context): boolean =>
  [output, json, jq].some((flag) => flag !== undefined)

export const isEnvelope = (value: unknown): value is Envelope =>
  isRecord(value) && typeof value.status === 'string' && typeof value.message === 'string'

/** What a route of the table answers once, as far as its words are known. */
const secretsOf = async (method: string, path: string, context: Context): Promise<Set<string>> => {
  const { operationAt } = await import('../operation/raw-operation.ts')
  const { baseUrl } = await context.settings()
  const operation = operationAt(method, path, baseUrl.value)
  if (operation && operation.effect !== 'read') context.changed = true
  return operation ? answerFieldsWith(operation, 'secret') : new Set()
}

/** As the service sent it; on a terminal, JSON is indented, and in a pipe it hides nothing. The last line ends. */
const showRaw = (body: string, { io: { stdout } }: Context): void => {
  if (body === '') return
  const value = stdout.isTTY || !isSeen(body) ? parseJson(body) : undefined
  const json = stdout.isTTY ? safeJson(value, 2) : seenJson(body)
  const text = value === undefined ? body : json
  stdout.write(`${stdout.isTTY ? safeText(text) : text}${text.endsWith('\n') ? '' : '\n'}`)
}

/**
 * Shows the answer of any route: whole as JSON, as YAML and to --jq; formats of rows and --json see its data. One that is
 * no success is shown as it came.
 */
export const showAnswer = async (
  answer: RawAnswer,
  { method, path }: { method: string; path: string },
  context: Context,
): Promise<void> => {
  const { status, body } = answer
  const shaped = isShaped(context)
  const once =
    shaped || context.changed ? await secretsOf(method, path, context) : (new Set() as ReadonlySet<string>)
  if (!shaped || status >= 300 || body === '') {
    if (once.size > 0) context.once = `${body}\n`
    return showRaw(body, context)
  }
  const output = await context.output()
  const value = parseJson(body)
  if (value === undefined) {
    const error = new SvcError('failed', 'unexpected_answer', 'The answer is not valid JSON', {
      hint: 'Remove -o, --json and --jq to see it',
    })
    if (!context.changed) throw error
    showRaw(body, context)
    throw (await import('../terminal/error.ts')).notShownAsAsked(context, error)
  }
  const rows = ['table', 'csv', 'tsv', 'ndjson', 'id'].includes(context.globals.output ?? '')
  const whole = !rows && context.globals.json === undefined
  if (isEnvelope(value)) return output.show(value, { document: true, whole, once })
  return output.show({ status: 'success', message: '', data: value }, { document: true, once })
}

type Request = Parameters<Client['raw']>[0]

/** The rows of a page: the body itself, or the data of its envelope. */
const rowsIn = (body: unknown): unknown[] | undefined => {
  const rows = isEnvelope(body) ? body.data : body
  return Array.isArray(rows) ? rows : undefined
}

/**
 * A list with the rows of every page, as long as `Link` names a next one: the first answer, with all rows in it. An
 * answer that is no list, or a page that fails, is the answer to all of it.
 */
export const everyPage = async (
  client: Client,
  request: Request,
  { baseUrl, signal }: { baseUrl: string; signal: AbortSignal },
): Promise<RawAnswer> => {
  let { path } = request
  const seen = new Set<string>()
  const all: unknown[] = []
  let first: { answer: RawAnswer; body: unknown } | undefined
  for (;;) {
    seen.add(path)
    const answer = await client.raw({ ...request, path }, { signal })
    const body = parseJson(answer.body)
    const rows = answer.status < 300 ? rowsIn(body) : undefined
    if (!rows) return answer
    first ??= { answer, body }
    for (const row of rows) all.push(row)
    const next = linkedPage(answer.headers['link'], 'next', rawUrl(baseUrl, path))
    const query = next && new URL(next).search
    path = `${path.split('?')[0]}${query ?? ''}`
    if (next === undefined || seen.has(path)) break
  }
  const { answer, body } = first
  return { ...answer, body: JSON.stringify(isEnvelope(body) ? { ...body, data: all } : all) }
}
