import { expect, test } from 'vitest'
import { hourForm, hoursText } from '../../src/page/language/hours.ts'
import { fill } from '../../src/page/language/message.ts'
import { textsIn } from './english.ts'

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

test.each([
  ['en', '1:05 AM', 'at 1:05 AM'],
  ['es', '1:05', 'a la 1:05'],
  ['es', '11:05', 'a las 11:05'],
  ['es', '13:05', 'a las 13:05'],
  ['pt', '01:05', 'à 01:05'],
  ['pt', '10:05', 'às 10:05'],
])('one o’clock has a form of its own where the language has one: %s, %s', (language, time, expected) => {
  const at = textsIn(language)['common']!['at']!
  expect(fill(at, { time, hour: hourForm(time) }, language, String).join('')).toBe(expected)
})
