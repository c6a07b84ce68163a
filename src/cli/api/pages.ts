import type { Client } from '../../client/client.ts'
import { linkedPage } from '../../client/paging.ts'
import { rawUrl } from '../../client/request.ts'
import { isEnvelope, type RawAnswer } from './answer.ts'

type Request = Parameters<Client['raw']>[0]

/** The rows of a page: the body itself, or the data of its envelope. */
const rowsIn = (body: unknown): unknown[] | undefined => {
  const rows = isEnvelope(body) ? body.data : body
  return Array.isArray(rows) ? rows : undefined
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body) as unknown
  } catch {
    return undefined
  }
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
    const body = parsed(answer.body)
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
