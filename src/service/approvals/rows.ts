import type { Selectable } from 'kysely'
import type { Tables } from '../storage/schema.ts'

/** A request. */
export type ApprovalRow = Selectable<Tables['approvals']>

/** What one person who is asked answers. */
export type BallotRow = Selectable<Tables['ballots']>
