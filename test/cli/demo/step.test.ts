import { expect, test } from 'vitest'
import { contains } from '../../../src/cli/demo/step.ts'

const answer = { slug: 'acme', sends_left: 4, policy: { factors: ['biometric', 'location'] } }

test.each([
  [answer, { slug: 'acme' }, true],
  [answer, { slug: 'globex' }, false],
  [answer, { slug: /^ac/, sends_left: 4 }, true],
  [answer, { sends_left: /4/ }, false],
  [answer, { policy: { factors: ['location'] } }, true],
  [answer, { policy: { factors: ['time'] } }, false],
  [answer, [{ slug: 'acme' }], false],
  [[answer, { slug: 'globex' }], [{ slug: 'globex' }, { slug: 'acme' }], true],
  [[answer], [{ slug: 'globex' }], false],
  [undefined, { slug: 'acme' }, false],
])('with the response %j and the expectation %j, the demo continues: %s', (data, expected, result) => {
  expect(contains(data, expected)).toBe(result)
})
