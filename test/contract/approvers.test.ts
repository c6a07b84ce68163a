import { expect, test } from 'vitest'
import { checkedLines, repeatedLine } from '../../src/contract/approvers.ts'
import { lineTexts } from '../../src/contract/line-text.ts'

const ada = '+12025550101'
const grace = '+12025550102'

test.each([
  ['a group', ['@sre', '@sre'], '@sre'],
  ['a group with another need', ['@sre', ada, '@sre:2'], '@sre:2'],
  ['a person', [ada, `${ada}:1`], `${ada}:1`],
  ['people in another order', [`${ada},${grace}`, `${grace},${ada}:2`], `${grace},${ada}:2`],
])('lines name %s once', (_, texts, repeated) => {
  expect(repeatedLine(texts)).toBe(repeated)
  expect(() => checkedLines(texts, '--to')).toThrow(
    `--to must name the same people only once; with a higher need`,
  )
  const { error } = lineTexts.safeParse(texts)
  expect(error?.issues.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^must name the same people only once/),
  ])
})

test('lines may share a person', () => {
  const texts = ['@sre', '@dba', ada, `${ada},${grace}`]
  expect(checkedLines(texts, '--to')).toEqual(texts)
  expect(lineTexts.parse(texts)).toEqual(texts)
})
