import { chord, ground, pointAt } from '../../rules/earth.ts'
import { featureOf } from '../bulk/read-file.ts'
import type { CheckedPoint, Circle, Place } from './projection.ts'

export type Level = 'organization' | 'user'
/** A fence as a picture shows it: small letters mark one that does not count. `distance`: metres from the checked point. */
export type DrawnFence = Circle & {
  mark: string
  of: Level
  name: string
  active: boolean
  distance?: number
}

/** 0 is A, 25 is Z, 26 is AA. */
const letters = (index: number): string =>
  (index >= 26 ? letters(Math.floor(index / 26) - 1) : '') + String.fromCodePoint(65 + (index % 26))

const metresTo = (fence: Place, point: Place): number =>
  Math.ceil(
    ground(chord(pointAt(fence.latitude, fence.longitude)!, pointAt(point.latitude, point.longitude)!)),
  )

/** The rows of a service, those that have a place and a radius; as the rules, it takes none for inactive by mistake. */
export const readFences = (rows: readonly Record<string, unknown>[], of: Level): Omit<DrawnFence, 'mark'>[] =>
  rows.flatMap(({ name, latitude, longitude, radius, is_active, enabled }) =>
    pointAt(latitude, longitude) && typeof radius === 'number' && radius > 0 && radius < Infinity
      ? [
          {
            of,
            name: String(name),
            latitude: latitude as number,
            longitude: longitude as number,
            radius,
            active: is_active !== 0 && enabled !== false,
          },
        ]
      : [],
  )

export const markFences = (
  fences: readonly Omit<DrawnFence, 'mark'>[],
  point: CheckedPoint | undefined,
): DrawnFence[] =>
  fences.map((fence, i) => ({
    ...fence,
    mark: fence.active ? letters(i) : letters(i).toLowerCase(),
    ...(point && { distance: metresTo(fence, point) }),
  }))

/** RFC 7946 as `svc geofence import` takes it: a point each with its radius (metres), as GeoJSON has no circles. */
export const geojsonOf = (fences: readonly DrawnFence[]) => ({
  type: 'FeatureCollection',
  features: fences.map(({ name, latitude, longitude, radius, active }) =>
    featureOf({ latitude, longitude, name, radius, is_active: active ? 1 : 0 }),
  ),
})
