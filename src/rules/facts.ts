import { type OperationId, table } from '../contract/table.ts'
import { isUsualVariable } from '../core/usual-variables.ts'
import type { Subject } from '../receipt/subject.ts'
import type { Facts } from './match.ts'

/** What rules look at in a subject. An operation is named by its id or by the words of its command. */
export const factsOf = (subject: Subject): Facts => {
  const { type, data } = subject
  if (type === 'text') return { type, text: data.text }
  if (type === 'command') {
    const { argv, cwd, executable, environment } = data
    const hasVariables =
      Object.keys(environment.set).length > 0 || environment.passed.some((name) => !isUsualVariable(name))
    return { type, argv, cwd, executable: executable.path, hasVariables }
  }
  if (type === 'request') {
    const { operation } = data
    const words = Object.hasOwn(table, operation) ? table[operation as OperationId].cli : operation
    return { type, operation: words }
  }
  if (type === 'file') return { type, file: data.name }
  return { type, server: data.server, tool: data.tool, arguments: data.arguments }
}
