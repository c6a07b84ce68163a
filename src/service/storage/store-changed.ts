import { conflict, type Refusal } from '../../core/refusal.ts'

/** Of a write that another program has interfered with. `how` continues the sentence. */
export const storeChanged = (how: string): Refusal =>
  conflict(
    'store_changed',
    `Another program has changed the store: ${how}`,
    'Ask the operator to restore a backup',
  )

export const idGivenAgain = (kind: string, id: number): Refusal =>
  storeChanged(`it would give the id of an earlier ${kind} again, ${id}`)

/** Of a write whose row in the audit is not there afterwards. */
export const rowSwallowed = (): Refusal => storeChanged('the audit does not keep the row of this change')
