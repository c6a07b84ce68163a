import { geofence } from '../../contract/geofence.ts'
import type { Issue } from '../../core/errors.ts'
import { byName } from './by-name.ts'
import type { Fields } from './kind.ts'

/** A value that is not a latitude, with a longitude that could be one: the two look swapped. */
const swapped = ({ latitude, longitude }: Fields): Issue[] =>
  typeof latitude === 'number' &&
  typeof longitude === 'number' &&
  Math.abs(latitude) > 90 &&
  Math.abs(latitude) <= 180 &&
  Math.abs(longitude) <= 90
    ? [
        {
          field: 'latitude',
          message: `is ${latitude}, but the limit is 90: latitude and longitude look swapped (GeoJSON has [longitude, latitude])`,
        },
      ]
    : []

export const geofences = byName({
  group: 'geofence',
  file: 'fences',
  one: 'geofence',
  many: 'geofences',
  columns: ['name', 'latitude', 'longitude', 'radius', 'is_active'],
  aliases: {
    latitude: ['lat'],
    longitude: ['lon', 'lng', 'long'],
    radius: ['radius_m'],
    is_active: ['active'],
  },
  places: true,
  tidy: (fields) => ({
    fields,
    key: typeof fields['name'] === 'string' ? fields['name'].trim() : undefined,
    issues: swapped(fields),
  }),
  list: geofence.listGeofences,
  create: geofence.createGeofence,
  update: geofence.updateGeofence,
  target: (org_id, id) => ({ org_id, id }),
})
