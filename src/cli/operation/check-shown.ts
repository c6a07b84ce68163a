import { answeredFields } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'

/** The fields that an answer to this operation can have; one without data is its status and message. */
const shownFields = (operation: Operation, envelope: boolean): string[] => {
  if (envelope) return ['status', 'message', 'data']
  const answered = answeredFields(operation)
  return answered.length > 0 ? answered : ['status', 'message']
}

/**
 * A write is not sent where its answer cannot be shown as asked: a new key is answered once, and must not be lost to a
 * typo. A read is sent, since another service may answer more. Answers the fields that can be shown.
 */
export const checkShown = async (
  operation: Operation,
  { globals }: Pick<Context, 'globals'>,
): Promise<string[]> => {
  const { json, output, envelope } = globals
  const known = shownFields(operation, envelope === true)
  if (json === undefined && output !== 'id') return known
  const { fieldsNeeded, idOf, namesIn } = await import('../terminal/payload.ts')
  const names = typeof json === 'string' ? namesIn(json) : []
  if (json !== undefined && names.length === 0) throw fieldsNeeded(known)
  if (operation.effect === 'read') return known
  const unknown = names.find((name) => !known.includes(name.split('.')[0]!))
  if (unknown !== undefined)
    throw usageError(
      `svc ${operation.cli} has no field "${unknown}" in its answer; nothing was sent`,
      `--json ${shellQuote(known.join(','))}; use --jq for additional fields of another service`,
    )
  if (output === 'id' && idOf(json === undefined ? known : names) === undefined)
    throw usageError(`svc ${operation.cli} has no id in its answer; nothing was sent`, 'Leave -o id out')
  return known
}
