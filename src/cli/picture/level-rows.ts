import { rowsIn } from '../../client/answer-data.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../context/context.ts'
import { gatherInput } from '../operation/gather-input.ts'

export type Row = Record<string, unknown>

/** Reads the rows of an organization or, with --user, those of the user and of the organization if it is known. */
export const readLevelRows = async (
  { list, listOfUser }: { list: Operation; listOfUser: Operation },
  { user, org }: { user?: string; org?: string },
  context: Context,
): Promise<Record<'organization' | 'user', Row[]>> => {
  const client = await context.client()
  const read = async (operation: Operation, input: Row): Promise<Row[]> =>
    rowsIn(operation, await client.call(operation, input, { signal: context.io.signal }))
  const operation = user === undefined ? list : listOfUser
  const { input } = await gatherInput(operation, { args: [], options: { user, org } }, context)
  if (user === undefined) return { organization: await read(list, input), user: [] }
  const { org_id } = input
  const [organization, ofUser] = await Promise.all([
    org_id === undefined ? [] : read(list, { org_id }),
    read(listOfUser, input),
  ])
  return { organization, user: ofUser }
}
