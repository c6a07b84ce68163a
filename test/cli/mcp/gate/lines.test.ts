import { expect, test } from 'vitest'
import { createLineSplitter } from '../../../../src/cli/mcp/gate/lines.ts'

const split = (chunks: string[], most = 10) => {
  const seen: string[] = []
  const push = createLineSplitter(most, {
    line: (bytes) => seen.push(bytes.toString()),
    tooLong: () => seen.push('!'),
  })
  for (const chunk of chunks) push(Buffer.from(chunk))
  return seen
}

test('lines are put together from any chunks, without their ends, and without empty ones', () => {
  expect(split(['a', 'b\nc', '\r\n\n\r\nd\r\r\n'])).toEqual(['ab', 'c', 'd\r'])
})

test('the rest of a stream is not a line', () => {
  expect(split(['a\n{"cut":'])).toEqual(['a'])
})

test('a line that is too long is reported once and left out, and the next one is read', () => {
  expect(split(['12345', '67890', '1', '2\nnext\n'])).toEqual(['!', 'next'])
})
