import type { Operation } from '../contract/operation.ts'
import { SvcError } from '../core/errors.ts'
import type { Answer } from './client.ts'

type Row = Record<string, unknown>

const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Another service may answer success and no more. What it does not say is not nothing. */
const noData = ({ cli, effect }: Operation): SvcError =>
  new SvcError(
    'failed',
    'unexpected_answer',
    `The service reported success and returned no data for svc ${cli}`,
    {
      ...(effect !== 'read' && { detail: 'It may have been done.' }),
      hint: 'Check that it is the service that you mean: svc profile show --explain',
    },
  )

/** The rows of a list that svc goes on to work with. */
export const rowsIn = (operation: Operation, { envelope }: Pick<Answer, 'envelope'>): Row[] => {
  if (Array.isArray(envelope.data)) return envelope.data.filter(isObject)
  throw noData(operation)
}

/** The record that svc goes on to work with; it has these fields. */
export const recordIn = (
  operation: Operation,
  { envelope }: Pick<Answer, 'envelope'>,
  fields: readonly string[] = [],
): Row => {
  const { data } = envelope
  if (isObject(data) && fields.every((name) => data[name] !== undefined)) return data
  throw noData(operation)
}
