import type { Data, Operation } from '../contract/operation.ts'
import { isRecord } from '../core/is-record.ts'
import { type SvcError, unexpectedAnswer } from '../core/errors.ts'
import type { Answer } from './client.ts'

// Reads the data of an answer that svc needs. A third-party service may report success without data.

type Fields = Record<string, unknown>
type Known<D> = unknown extends D ? Fields : D
type Row<D> = D extends readonly (infer R)[] ? R : Fields
type AnswerOf<O extends Operation> = Pick<Answer<Data<O>>, 'envelope'>

/** Missing data means unknown, not empty. */
export const noData = (
  { cli, effect }: Operation,
  called = `svc ${cli}`,
  hint = 'Check that this is the right service: svc profile show --explain',
): SvcError =>
  unexpectedAnswer(`The service reported success and returned no data for ${called}`, {
    ...(effect !== 'read' && { detail: 'The change may have been made.' }),
    hint,
  })

export const rowsIn = <O extends Operation>(operation: O, { envelope }: AnswerOf<O>): Row<Data<O>>[] => {
  if (Array.isArray(envelope.data)) return envelope.data.filter((row): row is Row<Data<O>> => isRecord(row))
  throw noData(operation)
}

/** A record; throws unless it has these fields. */
export const recordIn = <O extends Operation>(
  operation: O,
  { envelope }: AnswerOf<O>,
  fields: readonly string[] = [],
): Known<Data<O>> => {
  const { data } = envelope
  if (isRecord(data) && fields.every((name) => data[name] !== undefined)) return data
  throw noData(operation)
}

/** The fields of a record, if the service returned any. */
export const fieldsIn = <D>({ envelope }: Pick<Answer<D>, 'envelope'>): Partial<Known<D>> =>
  isRecord(envelope.data) ? envelope.data : {}
