import { rowsIn } from '../../client/answered.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../context/context.ts'
import { gatherInput } from '../operation/gather-input.ts'
import type { Level } from './fences.ts'

type Row = Record<string, unknown>
type Options = Record<string, unknown>
/** What each level restricts; a level that was not asked for is undefined. */
export type LevelRows = { [L in Level]?: Row[] | undefined }

/** Of an organization, or with --user of the user and, where it is known, of the organization: both must let pass. */
export const rowsOfLevels = async (
  { list, listOfUser }: { list: Operation; listOfUser: Operation },
  options: Options,
  context: Context,
): Promise<LevelRows> => {
  const client = await context.client()
  const listed = async (operation: Operation, input: Options): Promise<Row[]> => {
    return rowsIn(operation, await client.call(operation, input, { signal: context.io.signal }))
  }
  const { user, org } = options
  const { input } = await gatherInput(
    user === undefined ? list : listOfUser,
    { args: [], options: { user, org } },
    context,
  )
  if (user === undefined) return { organization: await listed(list, input) }
  const [organization, ofUser] = await Promise.all([
    input['org_id'] === undefined ? undefined : listed(list, { org_id: input['org_id'] }),
    listed(listOfUser, input),
  ])
  return { organization, user: ofUser }
}
