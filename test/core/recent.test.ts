import { expect, test } from 'vitest'
import { createRecent } from '../../src/core/recent.ts'

const owner = {}

test('the values that were set last are kept, for each owner', () => {
  const recent = createRecent<string, number>(2)
  recent.set(owner, 'a', 1)
  recent.set(owner, 'b', 2)
  recent.set(owner, 'a', 3)
  recent.set(owner, 'c', 4)
  expect(['a', 'b', 'c'].map((name) => recent.get(owner, name))).toEqual([3, undefined, 4])
  expect(recent.get({}, 'a')).toBeUndefined()
  recent.delete(owner, 'a')
  expect(recent.get(owner, 'a')).toBeUndefined()
})
