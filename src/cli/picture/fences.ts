import { chord, ground, pointAt } from '../../factors/earth.ts'
import type { Grid } from '../terminal/payload.ts'
import { lengthText, placeText, type CheckedPoint, type Circle, type Coordinates } from './projection.ts'

export type Level = 'organization' | 'user'
/** A geofence in a picture. An inactive one has a mark in lower case. `distance`: metres from the checked point. */
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

const metresTo = (fence: Coordinates, point: Coordinates): number =>
  Math.ceil(
    ground(chord(pointAt(fence.latitude, fence.longitude)!, pointAt(point.latitude, point.longitude)!)),
  )

/** The rows that have a location and a radius. As in the rules, only an explicit value makes a geofence inactive. */
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

/** Gives each geofence its mark, and its distance from the checked point. */
export const markFences = (
  fences: readonly Omit<DrawnFence, 'mark'>[],
  point: CheckedPoint | undefined,
): DrawnFence[] =>
  fences.map((fence, i) => ({
    ...fence,
    mark: fence.active ? letters(i) : letters(i).toLowerCase(),
    ...(point && { distance: metresTo(fence, point) }),
  }))

/** The table of geofences below a map. */
export const fenceGrid = (fences: readonly DrawnFence[]): Grid => {
  const bothLevels = new Set(fences.map(({ of }) => of)).size > 1
  const isMeasured = fences[0]?.distance !== undefined
  return {
    head: [
      'mark',
      'name',
      ...(bothLevels ? ['of'] : []),
      'radius',
      'centre',
      'active',
      ...(isMeasured ? ['to the point'] : []),
    ],
    lines: fences.map((fence) => [
      fence.mark,
      fence.name,
      ...(bothLevels ? [fence.of] : []),
      lengthText(fence.radius),
      placeText(fence),
      fence.active ? 'yes' : 'no',
      ...(fence.distance === undefined ? [] : [lengthText(fence.distance)]),
    ]),
  }
}
