import { failure, type SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { conflict, type Refusal } from '../../core/refusal.ts'

/** Of a write that another program has interfered with. `how` continues the sentence. */
export const storeChanged = (how: string): Refusal =>
  conflict(
    'store_changed',
    `Another program has changed the store: ${how}`,
    'Ask the operator to restore a backup',
  )

/** At the start. `found` can hide or change rows on their way; `remove` is how it goes. */
export const databaseAltered = (found: string, remove: string): SvcError =>
  failure(
    'database_altered',
    `The database has what svc did not make, and what could hide or change its rows: ${safeLine(found)}`,
    `Find out who made it, then remove it: ${remove}`,
  )

export const idGivenAgain = (kind: string, id: number): Refusal =>
  storeChanged(`it would give the id of an earlier ${kind} again, ${id}`)

/** Of a write whose row in the audit is not there afterwards. */
export const rowSwallowed = (): Refusal => storeChanged('the audit does not keep the row of this change')
