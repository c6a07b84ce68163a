import { expect, test } from 'vitest'
import { geofence } from '../../src/contract/geofence.ts'
import { timeslot } from '../../src/contract/timeslot.ts'

test('what replaces the rules of a user shows the columns of their list', () => {
  expect(timeslot.setUserTimeslots.columns).toEqual(timeslot.listUserTimeslots.columns)
  expect(timeslot.setUserTimeslots.columns).toContain('days')
  expect(geofence.setUserGeofences.columns).toEqual(geofence.listUserGeofences.columns)
})
