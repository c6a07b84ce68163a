import type { DrawnFence } from './fences.ts'

/** RFC 7946: a point each, its radius (metres) a property, as it has no circles. `svc geofence import` reads it back. */
export const geojsonOf = (fences: readonly DrawnFence[]) => ({
  type: 'FeatureCollection',
  features: fences.map(({ name, latitude, longitude, radius, active, of }) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties: { name, radius, is_active: active ? 1 : 0, of },
  })),
})
