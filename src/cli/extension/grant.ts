import { grant } from '../../contract/grant.ts'
import { extended } from '../operation/operation-command.ts'

/** In a table, how often a grant was used and how often it can be are one cell. */
export const grantTable = extended([grant.listGrants], () => ({
  texts: {
    used: (used, { uses }) => (uses === undefined ? String(used) : `${String(used)} of ${String(uses)}`),
  },
}))
