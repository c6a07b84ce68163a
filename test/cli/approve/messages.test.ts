import { expect, test } from 'vitest'
import { exitOfState } from '../../../src/asking/outcome.ts'
import { exitCode } from '../../../src/core/exit-codes.ts'

test.each([
  ['approved', 0],
  ['denied', 6],
  ['expired', 7],
  ['pending', 8],
  ['sort of approved', 1],
] as const)('%s exits with %i', (state, code) => {
  expect(exitCode(exitOfState(state))).toBe(code)
})

test.each(['toString', '__proto__', '', 'APPROVED', 'success'])(
  'the status %j is not an approval',
  (state) => {
    expect(exitOfState(state)).toBe('failed')
  },
)
