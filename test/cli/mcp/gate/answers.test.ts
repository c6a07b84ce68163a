import { expect, test } from 'vitest'
import { notApprovedText } from '../../../../src/cli/mcp/gate/answers.ts'
import { SvcError } from '../../../../src/core/errors.ts'

test.each(['Ada (user 5) denied this', 'Ada (user 5) denied this.'])('ends the sentence: %s', (detail) => {
  expect(notApprovedText('write', new SvcError('failed', 'denied', 'Denied', { detail }))).toContain(
    ' and denied it. Ada (user 5) denied this. Do not call it again',
  )
})

test('names the field of the file, not of the request', () => {
  const error = new SvcError('usage', 'invalid_field', 'approvers must name somebody: no rule holds this')
  expect(notApprovedText('write', error)).toContain(
    ': to in the file of the gate must name somebody: no rule',
  )
})
