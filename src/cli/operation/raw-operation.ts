import type { RawRequest } from '../../client/client.ts'
import { redactedUrl, rawUrl } from '../../client/request.ts'
import type { Operation } from '../../contract/operation.ts'
import { createPathMatcher } from '../../contract/path.ts'
import { table } from '../../contract/table.ts'
import { attempted } from '../../core/attempted.ts'
import { safeJson } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { withoutSecrets } from '../program/command-line.ts'

const decoded = (text: string): string => attempted(() => decodeURIComponent(text)) ?? text

/**
 * The operation of the table for a raw request; undefined if the table has none for it. svc treats an unknown GET as a
 * read, so it recognizes a GET that writes by its path anywhere in the URL.
 */
export const operationAt = (method: string, path: string, baseUrl: string): Operation | undefined => {
  // As sent: the URL parser has resolved `..` and backslashes.
  const requested = decoded(new URL(`http://svc${path}`).pathname)
  const whole = decoded(new URL(rawUrl(baseUrl, path)).pathname)
  const verb = method === 'HEAD' ? 'GET' : method
  const known = Object.values<Operation>(table).filter((operation) => operation.method === verb)
  const exact = known.find((operation) => createPathMatcher(operation.path)(requested))
  const hidden = known.find(
    (one) => verb === 'GET' && one.effect !== 'read' && whole.includes(one.path.split('{')[0]!),
  )
  return hidden ?? exact
}

/** A path of the API without values that look like secrets. */
export const redactedPath = (path: string): string => {
  const { pathname, search } = new URL(redactedUrl(`http://svc${path}`))
  return pathname + search
}

/** A raw request as a command line. `***` replaces values that look like secrets. */
export const rawLine = ({ method, path, body }: Omit<RawRequest, 'effect'>): string => {
  const line = `svc api ${shellQuote(redactedPath(path))} -X ${shellQuote(method)}`
  if (body === undefined) return line
  return `${line} --input ${shellQuote(safeJson(withoutSecrets(JSON.parse(body))))}`
}
