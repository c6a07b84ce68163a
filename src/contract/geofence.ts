import * as z from 'zod/mini'
import { chosen, id, line, optional, positive, shown } from './field.ts'
import { operations } from './declaration.ts'
import {
  accuracy,
  is_active,
  latitude,
  longitude,
  org_id,
  orgOfUser,
  paging,
  radius,
  ruling,
  times,
  user_id,
} from './records.ts'

// The specification shows the fields of two bodies: a geofence that is created, and those of a user. Elsewhere they are chosen.
const placeFields = (mark: typeof shown) => ({
  name: mark(line(120), 'Name', { example: 'Headquarters' }),
  latitude: mark(latitude, 'Latitude of the centre, degrees (WGS84)', { example: 52.52 }),
  longitude: mark(longitude, 'Longitude of the centre, degrees (WGS84)', { example: 13.405 }),
  radius: mark(radius, 'Radius in metres', { example: 150 }),
})
const fenceFields = (mark: typeof shown) => ({
  ...placeFields(mark),
  is_active: mark(is_active, '1 if active, 0 if not', { example: 1 }),
})
const userFenceFields = (mark: typeof shown) => ({
  ...placeFields(mark),
  enabled: mark(z.boolean(), 'Whether it is enforced', { example: true }),
})

const fenceChange = z.partial(z.strictObject(fenceFields(chosen)))
const fenceRecord = z.looseObject({
  id: chosen(positive, 'Geofence id'),
  org_id: chosen(positive, 'Organization id'),
  ...fenceFields(chosen),
  ...times,
})
const userFence = z.strictObject(userFenceFields(shown))
export const userFenceRecord = z.looseObject(userFenceFields(chosen))

const fenceId = shown(positive, 'Geofence id', { example: 12, flag: 'geofence-id' })

const userColumns = ['name', 'latitude', 'longitude', 'radius', 'enabled']

export const geofence = operations({
  listGeofences: {
    route: 'GET /organization/{org_id}/geo-fences',
    cli: 'geofence list',
    scope: 'read',
    cacheable: true,
    summary: 'List the geofences of an organization',
    message: 'Geofences',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(fenceRecord),
    columns: ['id', 'name', 'latitude', 'longitude', 'radius', 'is_active'],
  },
  getGeofence: {
    route: 'GET /organization/{org_id}/geo-fence/{id}',
    cli: 'geofence get',
    scope: 'read',
    cacheable: true,
    summary: 'Show one geofence of an organization',
    message: 'Geofence',
    example: '12 --org acme',
    input: z.strictObject({ org_id, id: fenceId }),
    data: fenceRecord,
  },
  createGeofence: {
    route: 'POST /organization/{org_id}/create/geo-fence',
    cli: 'geofence create',
    scope: 'rules',
    summary: 'Create a geofence in an organization',
    message: 'Geofence created',
    example: '--org acme --name Headquarters --latitude 52.52 --longitude 13.405 --radius 150 --is-active 1',
    input: z.strictObject({ org_id, ...fenceFields(shown) }),
    data: fenceRecord,
  },
  updateGeofence: {
    route: 'PUT /organization/{org_id}/update/geo-fence/{id}',
    cli: 'geofence update',
    scope: 'rules',
    summary: 'Update a geofence; fields that you leave out do not change',
    message: 'Geofence updated',
    example: '12 --org acme --radius 300',
    input: z.strictObject({ org_id, id: fenceId, ...fenceChange.shape }),
    data: fenceRecord,
  },
  deleteGeofence: {
    route: 'DELETE /organization/{org_id}/delete/geo-fence/{id}',
    cli: 'geofence delete',
    scope: 'rules',
    summary: 'Delete a geofence of an organization',
    message: 'Geofence deleted',
    example: '12 --org acme --yes',
    input: z.strictObject({ org_id, id: fenceId }),
  },
  listUserGeofences: {
    route: 'GET /user/{userId}/geofences',
    cli: 'geofence list',
    select: 'userId',
    scope: 'read',
    cacheable: true,
    summary: 'List the geofences of a user',
    message: 'Geofences of the user',
    example: '--user 7',
    input: z.strictObject({ userId: user_id, org_id: orgOfUser }),
    data: z.array(userFenceRecord),
    columns: userColumns,
  },
  setUserGeofences: {
    route: 'PUT /user/{userId}/geofences/update',
    cli: 'geofence set',
    select: 'userId',
    scope: 'rules',
    summary: 'Replace all geofences of a user',
    message: 'Geofences of the user replaced',
    example:
      '--user 7 --geofences \'[{"name":"Home","latitude":52.5,"longitude":13.4,"radius":100,"enabled":true}]\'',
    input: z.strictObject({
      userId: user_id,
      org_id: orgOfUser,
      geofences: shown(
        z.array(userFence).check(z.maxLength(1000, 'must have at most 1000 entries')),
        'All geofences of the user, as JSON or @file',
        { example: [{ name: 'Home', latitude: 52.5, longitude: 13.4, radius: 100, enabled: true }] },
      ),
    }),
    data: z.array(userFenceRecord),
    columns: userColumns,
  },
  checkGeofence: {
    route: 'GET /svc/v1/organizations/{org_id}/geofence-check',
    cli: 'geofence check',
    scope: 'read',
    summary: 'Check whether the geofences allow a location',
    message: 'Checked',
    example: '--org acme --latitude 52.5201 --longitude 13.4049 --accuracy 20',
    input: z.strictObject({
      org_id,
      user_id: optional(id, 'User whose geofences apply too', { example: '7', flag: 'user' }),
      latitude: chosen(latitude, 'Latitude, degrees (WGS84)', { example: 52.5201 }),
      longitude: chosen(longitude, 'Longitude, degrees (WGS84)', { example: 13.4049 }),
      accuracy_m: optional(accuracy, 'Accuracy in metres; default: 0', { example: 20, flag: 'accuracy' }),
    }),
    data: ruling,
    folded: ['expected', 'observed'],
  },
})
