import type { Operation } from '../contract/operation.ts'
import { table } from '../contract/table.ts'

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
  const asked = segments(decoded(path.split(/[?#]/, 1)[0]!))
  const verb = method === 'HEAD' ? 'GET' : method
  return Object.values<Operation>(table).find((operation) => {
    const wanted = segments(operation.path)
    if (operation.method !== verb || wanted.length !== asked.length) return false
    return wanted.every((word, i) => (word.startsWith('{') ? asked[i] !== '' : word === asked[i]))
  })
}
