import { grant } from '../../contract/grant.ts'
import { type Extensions, withExtras } from '../operation/operation-command.ts'

/** In a table, how often a grant was used and how often it can be are one cell. */
export const grantTable: Extensions = new Map([
  [
    grant.listGrants,
    withExtras(grant.listGrants, () => ({
      texts: {
        used: (used, { uses }) => (uses === undefined ? String(used) : `${String(used)} of ${String(uses)}`),
      },
    })),
  ],
])
