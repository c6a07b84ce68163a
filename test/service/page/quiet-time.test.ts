import { expect, test } from 'vitest'
import { isQuiet } from '../../../src/page/notifications/quiet-time.ts'

const at = (time: string): Date => new Date(`2030-01-31T${time}:00`)
const night = { from: '22:00', until: '07:00' }
const noon = { from: '12:00', until: '13:30' }

test.each([
  [night, '21:59', false],
  [night, '22:00', true],
  [night, '00:00', true],
  [night, '06:59', true],
  [night, '07:00', false],
  [noon, '11:59', false],
  [noon, '12:00', true],
  [noon, '13:29', true],
  [noon, '13:30', false],
  [{ from: '08:00', until: '08:00' }, '08:00', false],
  [undefined, '03:00', false],
])('quiet hours %j at %s: %s', (hours, time, quiet) => {
  expect(isQuiet(hours, at(time))).toBe(quiet)
})
