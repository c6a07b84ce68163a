import { expect, test } from 'vitest'
import { wholeNumber } from '../../src/core/phone-parts.ts'

test.each([
  [{ mobile: '2025550101', country_code: '+1', mobile_e164: '+12025550101' }, '+12025550101'],
  [{ mobile: '(202) 555-0101', country_code: '+1' }, '+12025550101'],
  [{ mobile: '+1 202 555 0101', country_code: '+1' }, '+12025550101'],
  [{ mobile: '+12025550101' }, '+12025550101'],
  [{ country_code: '+1' }, undefined],
])('the whole number of %j is %s', (record, whole) => {
  expect(wholeNumber(record)).toBe(whole)
})
