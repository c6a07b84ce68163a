import * as z from 'zod/mini'
import { chosen, id, line, shown } from './field.ts'
import { operations } from './operation.ts'
import { is_active, latitude, longitude, org_id, paging, radius, times, user_id } from './records.ts'

const place = {
  name: shown(line(120), 'Name', { example: 'Headquarters' }),
  latitude: shown(latitude, 'Latitude of the centre, degrees (WGS84)', { example: 52.52 }),
  longitude: shown(longitude, 'Longitude of the centre, degrees (WGS84)', { example: 13.405 }),
  radius: shown(radius, 'Radius, metres', { example: 150 }),
}

export const fence = z.strictObject({
  ...place,
  is_active: shown(is_active, '1 is active, 0 is not', { example: 1 }),
})

const fenceRecord = z.looseObject({
  id: chosen(id, 'Geo-fence id'),
  org_id: chosen(id, 'Organization id'),
  ...fence.shape,
  ...times,
})

const fenceId = shown(id, 'Geo-fence id', { example: 12 })
const userFence = z.strictObject({
  ...place,
  enabled: shown(z.boolean(), 'Whether it counts', { example: true }),
})
const userOrg = chosen(z.optional(id), 'Organization id; needed when the user is in several', { example: 1 })

export const geofence = operations({
  listGeofences: {
    method: 'GET',
    path: '/organization/{org_id}/geo-fences',
    cli: 'geofence list',
    effect: 'read',
    summary: 'List the geo-fences of an organization',
    message: 'Geo-fences',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(fenceRecord),
    columns: ['id', 'name', 'latitude', 'longitude', 'radius', 'is_active'],
  },
  getGeofence: {
    method: 'GET',
    path: '/organization/{org_id}/geo-fence/{id}',
    cli: 'geofence get',
    effect: 'read',
    summary: 'Show one geo-fence of an organization',
    message: 'Geo-fence',
    example: '12 --org acme',
    input: z.strictObject({ org_id, id: fenceId }),
    data: fenceRecord,
  },
  createGeofence: {
    method: 'POST',
    path: '/organization/{org_id}/create/geo-fence',
    cli: 'geofence create',
    effect: 'write',
    summary: 'Add a geo-fence to an organization',
    message: 'Geo-fence created',
    example: '--org acme --name Headquarters --latitude 52.52 --longitude 13.405 --radius 150 --is-active 1',
    input: z.extend(fence, { org_id }),
    data: fenceRecord,
  },
  updateGeofence: {
    method: 'PUT',
    path: '/organization/{org_id}/update/geo-fence/{id}',
    cli: 'geofence update',
    effect: 'write',
    summary: 'Change a geo-fence of an organization; what is left out stays',
    message: 'Geo-fence updated',
    example: '12 --org acme --radius 300',
    input: z.extend(z.partial(fence), { org_id, id: fenceId }),
    data: fenceRecord,
  },
  deleteGeofence: {
    method: 'DELETE',
    path: '/organization/{org_id}/delete/geo-fence/{id}',
    cli: 'geofence delete',
    effect: 'delete',
    summary: 'Delete a geo-fence of an organization',
    message: 'Geo-fence deleted',
    example: '12 --org acme --yes',
    input: z.strictObject({ org_id, id: fenceId }),
  },
  listUserGeofences: {
    method: 'GET',
    path: '/user/{userId}/geofences',
    cli: 'geofence list',
    select: 'userId',
    effect: 'read',
    summary: 'List the geo-fences of a user',
    message: 'Geo-fences of the user',
    example: '--user 7',
    input: z.strictObject({ userId: user_id, org_id: userOrg }),
    data: z.array(z.looseObject(userFence.shape)),
    columns: ['name', 'latitude', 'longitude', 'radius', 'enabled'],
  },
  setUserGeofences: {
    method: 'PUT',
    path: '/user/{userId}/geofences/update',
    cli: 'geofence set',
    select: 'userId',
    effect: 'write',
    summary: 'Replace all geo-fences of a user',
    message: 'Geo-fences of the user replaced',
    example:
      '--user 7 --geofences \'[{"name":"Home","latitude":52.5,"longitude":13.4,"radius":100,"enabled":true}]\'',
    input: z.strictObject({
      userId: user_id,
      org_id: userOrg,
      geofences: shown(
        z.array(userFence).check(z.maxLength(1000)),
        'All geo-fences of the user, as JSON or @file',
        {
          example: [{ name: 'Home', latitude: 52.5, longitude: 13.4, radius: 100, enabled: true }],
        },
      ),
    }),
    data: z.array(z.looseObject(userFence.shape)),
  },
})
