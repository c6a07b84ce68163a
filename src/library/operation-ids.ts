import type { Operation } from '../contract/operation.ts'
import { table } from '../contract/table.ts'

/** The ids of all operations but those of the approver page. The build writes the list out, so that an import loads no table. */
export const operationIds: readonly string[] = Object.entries<Operation>(table)
  .filter(([, { session }]) => !session)
  .map(([id]) => id)
