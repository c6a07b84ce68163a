import { expect, test } from 'vitest'
import { hoursText } from '../../src/page/language/hours.ts'

test.each([
  ['en', 'Night shift (Tue 03:00-03:01), UTC', 'Night shift (Tue 03:00-03:01), UTC'],
  ['ja', 'Night shift (Tue 03:00-03:01), UTC', 'Night shift (火 03:00-03:01), UTC'],
  ['de', 'Sun (Mon only) (Mon-Fri 08:00-18:00), UTC', 'Sun (Mon only) (Mo-Fr 08:00-18:00), UTC'],
  ['fr', 'Ops (Sat, Sun 08:00-18:00)', 'Ops (sam., dim. 08:00-18:00)'],
  ['ar', 'Always (daily 08:00-18:00)', 'Always (الاثنين-الأحد 08:00-18:00)'],
  ['ja', 'Mon', 'Mon'],
])('weekdays of hours are written in the language of the page: %s, %s', (language, text, expected) => {
  expect(hoursText(text, language)).toBe(expected)
})
