import * as fc from 'fast-check'
import type { WantedState } from '../../../src/cli/declare/document.ts'
import {
  knownFields,
  organizationFields,
  type Fields,
  type Row,
  type Section,
} from '../../../src/cli/declare/state.ts'

// Random organizations for files. There are few names, so that two organizations share some.

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const name = fc.constantFrom('HQ', 'Office', 'Lab 3', 'Küche', "O'Hare; --", 'yes', '12:30')
const coordinate = fc.integer({ min: -80, max: 80 })
const clock = fc.integer({ min: 0, max: 11 }).map((hour) => `${String(hour).padStart(2, '0')}:30`)
const days = fc.subarray(weekdays, { minLength: 1 })
const place = { latitude: coordinate, longitude: coordinate, radius: fc.integer({ min: 1, max: 1_000_000 }) }
const hours = {
  days,
  start: clock,
  end: clock.map((start) => start.replace(':30', ':45')),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
  is_active: fc.constantFrom(0, 1),
}

const keyed = (
  section: Section,
  key: fc.Arbitrary<string>,
  fields: fc.Arbitrary<Fields>,
): fc.Arbitrary<Row[]> =>
  fc
    .uniqueArray(fc.record({ key, fields }), { selector: (row) => row.key, maxLength: 5 })
    .map((rows) =>
      rows
        .map((row) => ({ key: row.key, fields: knownFields(section, row.fields) }))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    )

const person = fc.record({
  first_name: fc.constantFrom('Ada', 'Grace'),
  last_name: fc.constantFrom('Lovelace', 'Hopper'),
  email: fc.constantFrom('ada@acme.example', 'grace@acme.example'),
  role: fc.constantFrom('member', 'admin', 'operator'),
  state: fc.constantFrom('active', 'pending'),
  geofences: fc.array(fc.record({ name, ...place, enabled: fc.boolean() }), { maxLength: 2 }),
  timeslots: fc.array(fc.record({ name, ...hours }), { maxLength: 2 }),
})

const policy = fc.record({
  ip_allow: fc.subarray(['203.0.113.0/24', '2001:db8::/32']),
  device_trust: fc.boolean(),
  require_number: fc.boolean(),
  factors: fc.subarray(['biometric', 'location', 'time', 'device']),
  report_only: fc.subarray(['location', 'time']),
})

/** Everything that a file can contain for `acme`, except groups with members, their rules and the identity provider, which a file cannot change. */
export const organization: fc.Arbitrary<WantedState> = fc.record({
  slug: fc.constant('acme'),
  rows: fc.record({
    organization: fc
      .record({ name: fc.constantFrom('Acme', 'Acme Corp'), policy })
      .map((record) => [{ key: 'acme', fields: organizationFields(record) }]),
    geofences: keyed('geofences', name, fc.record({ ...place, is_active: fc.constantFrom(0, 1) })),
    timeslots: keyed('timeslots', name, fc.record(hours)),
    auth_codes: keyed('auth_codes', name, fc.constant({})),
    users: keyed(
      'users',
      fc.constantFrom('+12025550101', '+12025550102', '+4915112345678', '+390612345678'),
      person,
    ),
    // Only people with a device can be in one, and rules ask them.
    groups: fc.constant([]),
    rules: fc.constant([]),
  }),
})
