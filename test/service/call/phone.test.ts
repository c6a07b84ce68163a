import * as fc from 'fast-check'
import examples from 'libphonenumber-js/examples.mobile.json'
import { type CountryCode, getCountryCallingCode, getExampleNumber } from 'libphonenumber-js/max'
import { describe, expect, test } from 'vitest'
import { readPhone } from '../../../src/factors/phone.ts'
import { parsePhone } from '../../../src/service/call/input.ts'

describe('a phone number', () => {
  test.each([
    ['+1', '2025550101', '+12025550101'],
    ['+1', '(202) 555-0101', '+12025550101'],
    ['+49', '0151 12345678', '+4915112345678'],
    ['+49', '151 12345678', '+4915112345678'],
    ['+49', '+49 151 12345678', '+4915112345678'],
    ['+39', '06 1234 5678', '+390612345678'],
    ['+54', '011 15 2345 6789', '+5491123456789'],
    ['+44', '07911 123456', '+447911123456'],
    ['+1', '٢٠٢٥٥٥٠١٠١', '+12025550101'],
  ])('%s %s is %s', (prefix, national, mobile) => {
    expect(parsePhone(national, prefix)).toEqual({ mobile, country_code: prefix })
  })

  test('keeps its one spelling, for a mobile of every country', () => {
    const countries = Object.keys(examples) as CountryCode[]
    expect(countries.length).toBeGreaterThan(200)
    for (const country of countries) {
      const { number, nationalNumber } = getExampleNumber(country, examples)!
      const phone = { mobile: number, country_code: `+${getCountryCallingCode(country)}` }
      expect(parsePhone(number)).toEqual(phone)
      expect(parsePhone(nationalNumber, phone.country_code)).toEqual(phone)
    }
  })

  test.each(['+31 0 0339291156', '+49 0 04210851722', '+44 0 0890921083', '+86 0 126484490273'])(
    '%s is refused: what it would be kept as is read as yet another number',
    (text) => {
      expect(() => parsePhone(text)).toThrow('is not a valid phone number')
    },
  )

  test('is kept as what is read as itself, whatever was typed', () => {
    const typed = fc.tuple(
      fc.constantFrom('+1', '+31', '+39', '+44', '+49', '+54', '+86', '+225', '+375'),
      fc.constantFrom('', ' 0 ', ' 00 ', ' 1 ', ' (0)'),
      fc.stringMatching(/^\d{5,13}$/),
    )
    let kept = 0
    fc.assert(
      fc.property(typed, (parts) => {
        const phone = readPhone(parts.join(''))
        if (!('mobile' in phone)) return
        kept++
        expect(readPhone(phone.mobile)).toEqual(phone)
      }),
      { numRuns: 3_000 },
    )
    expect(kept).toBeGreaterThan(500)
  })

  test('is not refused for being unassigned: numbering plans grow', () => {
    expect(parsePhone('+15555550100').mobile).toBe('+15555550100')
  })

  test.each([
    '2025550101',
    '+1',
    '+12',
    '+999123456',
    'x',
    '+1202555010155',
    '+12025550101;ext=5',
    'call +12025550101',
  ])('is not %j', (text) => {
    expect(() => parsePhone(text)).toThrow(/^mobile /)
  })

  test('is not of another country than its prefix says', () => {
    expect(() => parsePhone('+12025550101', '+49')).toThrow('mobile starts with +1, but country_code is +49')
    expect(() => parsePhone('2025550101', '+1202')).toThrow('country_code is not a valid dialing prefix')
  })
})
