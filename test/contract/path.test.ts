import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPathMatcher, fillPath, pathNames } from '../../src/contract/path.ts'

const path = '/organization/{org_id}/user/{user_id}/accept'

test('lists the names in braces in order', () => {
  expect(pathNames(path)).toEqual(['org_id', 'user_id'])
  expect(pathNames('/health')).toEqual([])
})

test.each([
  ['/organization/1/user/7/accept', true],
  ['/organization/1/user//accept', false],
  ['/organization/1/user/7/accept/', false],
  ['/organization/1/user/7', false],
  ['/organization/1/user/7/reject', false],
  ['organization/1/user/7/accept', false],
])('matches an address segment by segment: %s %s', (address, matches) => {
  expect(createPathMatcher(path)(address)).toBe(matches)
})

test('matches a path with encoded values', () => {
  const value = fc.string({ minLength: 1, unit: 'grapheme' })
  fc.assert(
    fc.property(value, value, (org_id, user_id) => {
      const values: Record<string, string> = { org_id, user_id }
      const filled = fillPath(path, (name) => encodeURIComponent(values[name]!))
      expect(createPathMatcher(path)(filled)).toBe(true)
      expect(filled.split('/').map(decodeURIComponent)).toEqual([
        '',
        'organization',
        org_id,
        'user',
        user_id,
        'accept',
      ])
    }),
  )
})
