import { expect, test } from 'vitest'
import { exitOfState } from '../../../src/asking/outcome.ts'
import { exitOfAll } from '../../../src/cli/approve/messages.ts'
import type { ApprovalState } from '../../../src/contract/approval.ts'
import { record } from './records.ts'

const exitOf = (...states: string[]): number =>
  exitOfAll(states.map((status) => record({ status: status as ApprovalState })))

test.each([
  [['approved'], 0],
  [['denied'], 6],
  [['expired'], 7],
  [['pending'], 8],
  [['approved', 'pending'], 8],
  [['pending', 'expired', 'approved'], 7],
  [['pending', 'expired', 'denied', 'approved'], 6],
  [['approved', 'sort of approved'], 1],
] as const)('%j exits with %i', (states, code) => {
  expect(exitOf(...states)).toBe(code)
})

test.each(['toString', '__proto__', '', 'APPROVED', 'success'])(
  'the status %j is not an approval',
  (state) => {
    expect(exitOfState(state)).toBe('failed')
  },
)
