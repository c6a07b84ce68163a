import { expect, test } from 'vitest'
import { checkShownFields } from '../../src/client/shown-fields.ts'
import { geofence } from '../../src/contract/geofence.ts'
import { org } from '../../src/contract/org.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { SvcError } from '../../src/core/errors.ts'
import { user } from '../../src/contract/user.ts'

const check = (operation: Operation, input: Record<string, unknown>): SvcError | undefined => {
  try {
    checkShownFields(operation, input)
    return undefined
  } catch (error) {
    return error as SvcError
  }
}

const fence = { org_id: 1, name: 'HQ', latitude: 1, longitude: 1, radius: 5, is_active: 1 }

test.each([
  ['latitude', { latitude: 91 }],
  ['latitude', { latitude: '1' }],
  ['radius', { radius: 1.5 }],
  ['name', { name: '' }],
  ['is_active', { is_active: 2 }],
  ['org_id', { org_id: 'x' }],
  ['org_id', { org_id: undefined }],
  ['org_id', { org_id: '' }],
])('a field of the specification is checked before it is sent: %s %j', (field, wrong) => {
  const error = check(geofence.createGeofence, { ...fence, ...wrong })
  expect(error).toMatchObject({ exit: 'usage', hint: 'svc geofence create --help' })
  expect(error!.message).toContain(field)
  expect(error!.issues!.map((issue) => issue.field)).toContain(field)
})

test('an entry of a list is named by its index', () => {
  const error = check(geofence.setUserGeofences, { userId: 7, geofences: [{ name: 'x' }] })
  expect(error!.message).toContain('geofences.0.latitude')
})

test('a missing field is not an error', () => {
  expect(check(user.createUser, { orgId: 1 })).toBeUndefined()
})

test('a field that the specification does not show is left to the service', () => {
  expect(check(org.createOrganization, { name: 7, slug: 'NO SLUG', policy: 'x', odd: 1 })).toBeUndefined()
})

test.each(['.', '..'])('a path value %s, which would shorten the address, is rejected', (value) => {
  expect(check(org.getOrganization, { orgIdOrSlug: value })).toMatchObject({ exit: 'usage' })
})

test.each([['usr_8f3'], ['7'], [7]])('%j is accepted for an ID that is text', (userId) => {
  expect(check(user.getUser, { orgId: 12, userId })).toBeUndefined()
})
