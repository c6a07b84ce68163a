import { geofence } from '../../contract/geofence.ts'
import type { Issue } from '../../core/errors.ts'
import { openByName } from './by-name.ts'
import type { Fields, Kind } from './kind.ts'

/** What only a swap explains: a latitude that no place has, beside a longitude that could be one. */
const swapped = ({ latitude, longitude }: Fields): Issue[] =>
  typeof latitude === 'number' &&
  typeof longitude === 'number' &&
  Math.abs(latitude) > 90 &&
  Math.abs(latitude) <= 180 &&
  Math.abs(longitude) <= 90
    ? [
        {
          field: 'latitude',
          message: `is ${latitude}, and no latitude is beyond 90: latitude and longitude look swapped (GeoJSON has [longitude, latitude])`,
        },
      ]
    : []

export const geofences: Kind = {
  group: 'geofence',
  file: 'fences',
  one: 'geo-fence',
  many: 'geo-fences',
  create: geofence.createGeofence,
  orgField: 'org_id',
  columns: ['name', 'latitude', 'longitude', 'radius', 'is_active'],
  aliases: {
    lat: 'latitude',
    lon: 'longitude',
    lng: 'longitude',
    long: 'longitude',
    radius_m: 'radius',
    active: 'is_active',
  },
  defaults: { is_active: 1 },
  keyColumn: 'name',
  places: true,
  tidy: (fields) => ({
    fields,
    key: typeof fields['name'] === 'string' ? fields['name'].trim() : undefined,
    issues: swapped(fields),
  }),
  open: openByName({
    one: 'geo-fence',
    list: geofence.listGeofences,
    create: geofence.createGeofence,
    update: geofence.updateGeofence,
    target: (org_id, id) => ({ org_id, id }),
  }),
  list: geofence.listGeofences,
  listed: {},
}
