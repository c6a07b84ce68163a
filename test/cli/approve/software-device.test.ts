import { expect, test } from 'vitest'
import { readPlace } from '../../../src/cli/approve/software-device.ts'

test('reads a place from both flags, exact and current', () => {
  expect(readPlace('52.52', '-13.405')).toEqual({
    latitude: 52.52,
    longitude: -13.405,
    accuracy_m: 0,
    age_ms: 0,
  })
  expect(readPlace(undefined, undefined)).toBeUndefined()
})

test.each([
  ['52.52', undefined, '--latitude requires --longitude'],
  [undefined, '13.405', '--longitude requires --latitude'],
  ['90.1', '0', '--latitude must be between -90 and 90, not "90.1"'],
  ['0', '181', '--longitude must be between -180 and 180, not "181"'],
  ['52,52', '0', '--latitude must be between -90 and 90, not "52,52"'],
  ['', '0', '--latitude must be between -90 and 90, not ""'],
  ['1e1', '0', '--latitude must be between -90 and 90, not "1e1"'],
])('rejects --latitude %s with --longitude %s', (latitude, longitude, message) => {
  expect(() => readPlace(latitude, longitude)).toThrow(message)
})
