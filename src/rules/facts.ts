import { type OperationId, table } from '../contract/table.ts'
import type { Subject } from '../receipt/subject.ts'
import type { Facts } from './match.ts'

/** What rules look at in a subject. An operation is named by its id or by the words of its command. */
export const factsOf = (subject: Subject): Facts => {
  const { type, data } = subject
  if (type === 'text') return { type, text: data.text }
  if (type === 'command') return { type, argv: data.argv, cwd: data.cwd, executable: data.executable.path }
  if (type === 'request') {
    const { operation } = data
    const words = Object.hasOwn(table, operation) ? table[operation as OperationId].cli : operation
    return { type, operation: words }
  }
  if (type === 'file') return { type, file: data.name }
  return { type, server: data.server, tool: data.tool, arguments: data.arguments }
}
