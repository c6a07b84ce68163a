import { redactedUrl } from '../client/redact.ts'
import type { Operation } from '../contract/operation.ts'
import { table } from '../contract/table.ts'
import { safeJson } from '../core/safe-text.ts'
import { shellWord } from '../core/shell-word.ts'
import { withoutSecrets } from './command-line.ts'

const segments = (path: string): string[] => path.split('/')

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The operation of the table behind a raw request; undefined where the table names none, or the path is spelled oddly. */
export const operationAt = (method: string, path: string): Operation | undefined => {
  // As it goes over the wire: `..` and backslashes are gone by then.
  const asked = segments(decoded(new URL(`http://svc${path}`).pathname))
  const verb = method === 'HEAD' ? 'GET' : method
  return Object.values<Operation>(table).find((operation) => {
    const wanted = segments(operation.path)
    if (operation.method !== verb || wanted.length !== asked.length) return false
    return wanted.every((word, i) => (word.startsWith('{') ? asked[i] !== '' : word === asked[i]))
  })
}

/** A raw request in words, with its whole body but for what looks like a secret. */
export const rawLine = ({ method, path, body }: { method: string; path: string; body?: string }): string => {
  const { pathname, search } = new URL(redactedUrl(`http://svc${path}`))
  const line = `svc api ${shellWord(pathname + search)} -X ${method}`
  if (body === undefined) return line
  return `${line} --input ${shellWord(safeJson(withoutSecrets(JSON.parse(body))))}`
}
