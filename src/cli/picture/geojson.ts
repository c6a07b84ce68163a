import { featureOf } from '../bulk/geojson.ts'
import type { DrawnFence } from './fences.ts'

/** RFC 7946 as `svc geofence import` takes it: a point each with its radius (metres), as GeoJSON has no circles. */
export const geojsonOf = (fences: readonly DrawnFence[]) => ({
  type: 'FeatureCollection',
  features: fences.map(({ name, latitude, longitude, radius, active }) =>
    featureOf({ latitude, longitude, name, radius, is_active: active ? 1 : 0 }),
  ),
})
