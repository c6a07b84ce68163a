import { expect, test } from 'vitest'
import { approval } from '../../src/contract/approval.ts'
import { geofence } from '../../src/contract/geofence.ts'
import { timeslot } from '../../src/contract/timeslot.ts'

test('replacing the rules of a user shows the columns of their list', () => {
  expect(timeslot.setUserTimeslots.columns).toEqual(timeslot.listUserTimeslots.columns)
  expect(timeslot.setUserTimeslots.columns).toContain('days')
  expect(geofence.setUserGeofences.columns).toEqual(geofence.listUserGeofences.columns)
})

test('a list of approvals shows the requesting credential, not the name that it claims', () => {
  const { columns } = approval.listApprovals
  expect([columns.includes('verified_as'), columns.includes('requester')]).toEqual([true, false])
})
