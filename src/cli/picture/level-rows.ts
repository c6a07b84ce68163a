import { rowsIn } from '../../client/answer-data.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Verdict } from '../../factors/verdict.ts'
import type { Context } from '../context/context.ts'
import { gatherInput } from '../operation/gather-input.ts'
import type { Level } from './fences.ts'

type Row = Record<string, unknown>
/** The rows of each level; undefined for a level that was not read. */
export type LevelRows = Record<Level, Row[] | undefined>

/** Reads the rows of an organization or, with --user, those of the user and of the organization if it is known. */
export const readLevelRows = async (
  { list, listOfUser }: { list: Operation; listOfUser: Operation },
  { user, org }: { user?: string; org?: string },
  context: Context,
): Promise<LevelRows> => {
  const client = await context.client()
  const read = async (operation: Operation, input: Record<string, unknown>): Promise<Row[]> =>
    rowsIn(operation, await client.call(operation, input, { signal: context.io.signal }))
  const operation = user === undefined ? list : listOfUser
  const { input } = await gatherInput(operation, { args: [], options: { user, org } }, context)
  if (user === undefined) return { organization: await read(list, input), user: undefined }
  const { org_id } = input
  const [organization, ofUser] = await Promise.all([
    org_id === undefined ? undefined : read(list, { org_id }),
    read(listOfUser, input),
  ])
  return { organization, user: ofUser }
}

/** What the rules decide, in the words of `svc geofence check`. */
export const verdictFor = (subject: string, { result, reason }: Verdict) => {
  const passes = result === 'PASS' || result === 'NOT_APPLICABLE'
  return { passes, text: `${subject} would ${passes ? '' : 'not '}pass: ${reason}` }
}
