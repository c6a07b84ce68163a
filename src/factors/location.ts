import { farthest, pointAt, type Point } from './earth.ts'
import type { FenceIndex } from './fence-index.ts'
import { readInstant } from './instant.ts'
import { everyLevel, rulesOf, type Levels } from './level.ts'
import { cannotTell, fail, notApplicable, pass, type Verdict } from './verdict.ts'

/** Degrees (WGS84), metres, and the ISO instant at which the device measured it. */
export type Location = { latitude: number; longitude: number; accuracy_m: number; at: string }

/** Maximum age of a location. */
export const locationLifetimeMs = 5 * 60_000

type Fix = { point: Point; accuracy: number }

const readFix = (value: unknown, at: unknown): Fix | string => {
  if (value === undefined || value === null) return 'no location was provided'
  if (typeof value !== 'object') return 'the location cannot be read'
  const { latitude, longitude, accuracy_m, at: measuredAt } = value as Record<string, unknown>
  const point = pointAt(latitude, longitude)
  if (!point) return 'the location has no valid latitude and longitude'
  if (typeof accuracy_m !== 'number' || !(accuracy_m >= 0 && accuracy_m <= farthest))
    return 'the location has no valid accuracy'
  const [now, measured] = [readInstant(at), readInstant(measuredAt)]
  if (now === undefined) return 'the time of the decision cannot be read'
  if (measured === undefined) return 'the location has no valid time'
  if (measured > now) return 'the time of the location is in the future'
  const age = now - measured
  if (age > locationLifetimeMs)
    return `the location is ${Math.ceil(age / 1000)} s old (at most ${locationLifetimeMs / 1000} s)`
  return { point, accuracy: Math.ceil(accuracy_m) }
}

const metres = (length: number): string =>
  length < 1000 ? `${length} m` : `${(length / 1000).toLocaleString('en', { maximumFractionDigits: 3 })} km`

/** Two digits are enough to say "far away"; more would reveal the location. */
const coarse = (distance: number): number => {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(distance)) - 1)
  return distance < 1000 ? distance : Math.ceil(distance / step) * step
}

// Rounded up to whole metres before the comparison, so that readers of the verdict can verify the sum.
const checkFences = (fences: FenceIndex, { point, accuracy }: Fix): Verdict => {
  const nearest = fences.nearest(point)
  if (!nearest) return fail('no active geofence can be read')
  const { name, radius } = nearest
  const distance = Math.ceil(nearest.distance)
  const inside = distance + accuracy <= radius
  const shown = distance > radius ? coarse(distance) : distance
  return (inside ? pass : fail)(
    `${metres(shown)} from ${name} (radius ${metres(radius)}, accuracy ${metres(accuracy)})`,
    { name, radius_m: radius },
    { distance_m: shown, accuracy_m: accuracy },
  )
}

/**
 * Requires the whole circle of uncertainty to be inside a fence of each level that has one. The verdict contains distances
 * and never coordinates. `at` is the ISO instant of the decision.
 */
export const checkLocation = (levels: Levels, location: unknown, at: unknown): Verdict => {
  const rules = rulesOf(levels, ({ fences }) => fences)
  if (rules.length === 0) return notApplicable('no active geofence')
  const fix = readFix(location, at)
  return typeof fix === 'string' ? cannotTell(fix) : everyLevel(rules, (fences) => checkFences(fences, fix))
}
