import { expect, test } from 'vitest'
import { readTraceParent } from '../../src/core/traceparent.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'

test.each([
  ['version 00', `00-${trace}-${parent}-01`],
  ['a later version', `cc-${trace}-${parent}-01`],
  ['a later version with further fields', `cc-${trace}-${parent}-01-what-the-future-adds`],
])('reads %s', (_, header) => {
  expect(readTraceParent(header)).toEqual({ trace_id: trace, parent_id: parent })
})

// From the test suite of the standard.
test.each([
  ['nothing', undefined],
  ['an empty value', ''],
  ['upper case', `00-${trace.toUpperCase()}-${parent}-01`],
  ['version ff', `ff-${trace}-${parent}-01`],
  ['version 00 with a further field', `00-${trace}-${parent}-01-more`],
  ['a later version that continues without a dash', `cc-${trace}-${parent}-01.more`],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${parent}-01`],
  ['a parent id of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
  ['a short trace id', `00-${trace.slice(1)}-${parent}-01`],
  ['another character', `00-${trace}-${parent}-0g`],
  ['a space', ` 00-${trace}-${parent}-01`],
  ['two headers', `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`],
  ['a very long value', `cc-${trace}-${parent}-01-${'x'.repeat(500)}`],
])('ignores %s', (_, header) => {
  expect(readTraceParent(header)).toBeUndefined()
})
