import { expect, test } from 'vitest'
import { createGuardProgress } from '../../../src/cli/guard/progress.ts'
import type { ApprovalRecord } from '../../../src/contract/approval.ts'
import { memoryIo } from '../memory-io.ts'

test('leaves the reason to the error that follows', () => {
  const io = memoryIo()
  const record = { status: 'expired', detail: 'no decision in time' } as ApprovalRecord
  createGuardProgress(io.stderr).decided(record)
  expect(io.err()).toBe('guard: expired\n')
})
