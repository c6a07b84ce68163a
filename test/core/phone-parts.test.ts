import metadata from 'libphonenumber-js/min/metadata'
import { expect, test } from 'vitest'
import { dialingPrefix, wholeNumber } from '../../src/core/phone-parts.ts'

test.each([
  [{ mobile: '2025550101', country_code: '+1', mobile_e164: '+12025550101' }, '+12025550101'],
  [{ mobile: '(202) 555-0101', country_code: '+1' }, '+12025550101'],
  [{ mobile: '+1 202 555 0101', country_code: '+1' }, '+12025550101'],
  [{ mobile: '+12025550101' }, '+12025550101'],
  [{ country_code: '+1' }, undefined],
])('the full number of %j is %s', (record, whole) => {
  expect(wholeNumber(record)).toBe(whole)
})

const codes = [...Object.keys(metadata.country_calling_codes), ...Object.keys(metadata.nonGeographic)]

test.each(codes)('knows +%s as a dialing prefix, like libphonenumber', (code) => {
  expect(dialingPrefix(`+${code}12345678`)).toBe(`+${code}`)
})
