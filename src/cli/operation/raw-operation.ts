import { redactedUrl, rawUrl } from '../../client/request.ts'
import type { Operation } from '../../contract/operation.ts'
import { createPathMatcher } from '../../contract/path.ts'
import { table } from '../../contract/table.ts'
import { safeJson } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { withoutSecrets } from '../program/command-line.ts'

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * The operation of the table behind a raw request; undefined where the table names none, or the path is spelled oddly.
 * A GET passes for a read where it is not known, so one that writes is known by its words anywhere in the address.
 */
export const operationAt = (method: string, path: string, baseUrl: string): Operation | undefined => {
  // As it goes over the wire: `..` and backslashes are gone by then.
  const asked = decoded(new URL(`http://svc${path}`).pathname)
  const whole = decoded(new URL(rawUrl(baseUrl, path)).pathname)
  const verb = method === 'HEAD' ? 'GET' : method
  const known = Object.values<Operation>(table).filter((operation) => operation.method === verb)
  const exact = known.find((operation) => createPathMatcher(operation.path)(asked))
  const hidden = known.find(
    (one) => verb === 'GET' && one.effect !== 'read' && whole.includes(one.path.split('{')[0]!),
  )
  return hidden ?? exact
}

/** An address of the API without what looks like a secret. */
export const redactedPath = (path: string): string => {
  const { pathname, search } = new URL(redactedUrl(`http://svc${path}`))
  return pathname + search
}

/** A raw request in words, with its whole body but for what looks like a secret. */
export const rawLine = ({
  method,
  path,
  body,
}: {
  method: string
  path: string
  body?: string | undefined
}): string => {
  const line = `svc api ${shellQuote(redactedPath(path))} -X ${shellQuote(method)}`
  if (body === undefined) return line
  return `${line} --input ${shellQuote(safeJson(withoutSecrets(JSON.parse(body))))}`
}
