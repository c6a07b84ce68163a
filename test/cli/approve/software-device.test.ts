import { expect, test } from 'vitest'
import { readPlace } from '../../../src/cli/approve/software-device.ts'

test('reads a place from both flags, exact and current', () => {
  expect(readPlace({ latitude: '52.52', longitude: '-13.405' })).toEqual({
    latitude: 52.52,
    longitude: -13.405,
    accuracy_m: 0,
    age_ms: 0,
  })
  expect(readPlace({})).toBeUndefined()
})

test.each([
  [{ latitude: '52.52' }, '--latitude requires --longitude'],
  [{ longitude: '13.405' }, '--longitude requires --latitude'],
  [{ latitude: '90.1', longitude: '0' }, '--latitude must be between -90 and 90, not "90.1"'],
  [{ latitude: '0', longitude: '181' }, '--longitude must be between -180 and 180, not "181"'],
  [{ latitude: '52,52', longitude: '0' }, '--latitude must be between -90 and 90, not "52,52"'],
  [{ latitude: '', longitude: '0' }, '--latitude must be between -90 and 90, not ""'],
  [{ latitude: '1e1', longitude: '0' }, '--latitude must be between -90 and 90, not "1e1"'],
])('rejects the location %j', (typed, message) => {
  expect(() => readPlace(typed)).toThrow(message)
})
