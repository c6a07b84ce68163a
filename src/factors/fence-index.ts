import { safeLine } from '../core/safe-text.ts'
import { chord, ground, pointAt, type Point } from './earth.ts'

/** `radius` in metres, the centre in degrees (WGS84). Counts unless `is_active` is 0 or `enabled` is false. */
export type Fence = {
  name: string
  latitude: number
  longitude: number
  radius: number
  is_active?: 0 | 1
  enabled?: boolean
}

type Place = { name: string; radius: number; point: Point }
/** All places of a branch lie within `reach` of `point`, and none has a radius above `radius`. */
type Node = { point: Point; reach: number; radius: number } & ({ places: Place[] } | { halves: [Node, Node] })

/** `distance`: metres to the centre. */
export type Nearest = { name: string; radius: number; distance: number }

export type FenceIndex = {
  /** The fence with the nearest edge, or the one that the point is deepest in; undefined if no fence is valid. */
  nearest: (point: Point) => Nearest | undefined
  /** The names of the valid fences, sorted. */
  names: () => string[]
}

const placeOf = ({ name, latitude, longitude, radius }: Fence): Place | undefined => {
  const point = pointAt(latitude, longitude)
  const valid = point && typeof radius === 'number' && radius > 0 && radius < Infinity
  return valid ? { name: safeLine(String(name)), radius, point } : undefined
}

const axes = [0, 1, 2] as const
const leafSize = 8

const mean = (numbers: number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length
const spread = (numbers: number[]): number =>
  numbers.reduce((max, one) => Math.max(max, one), -Infinity) -
  numbers.reduce((min, one) => Math.min(min, one), Infinity)

const nodeOf = (places: Place[]): Node => {
  const columns = axes.map((axis) => places.map(({ point }) => point[axis]))
  const point: Point = [mean(columns[0]!), mean(columns[1]!), mean(columns[2]!)]
  const reach = places.reduce((max, place) => Math.max(max, chord(point, place.point)), 0)
  const radius = places.reduce((max, place) => Math.max(max, place.radius), 0)
  if (places.length <= leafSize) return { point, reach, radius, places }
  const widths = columns.map(spread)
  const widest = axes.reduce((a, b) => (widths[b]! > widths[a]! ? b : a))
  const sorted = places.toSorted((a, b) => a.point[widest] - b.point[widest])
  const middle = sorted.length >> 1
  return { point, reach, radius, halves: [nodeOf(sorted.slice(0, middle)), nodeOf(sorted.slice(middle))] }
}

type Best = { place: Place | undefined; margin: number; distance: number }

/** Lower bound in metres for the distance to the edge of any place of the branch. */
const bound = ({ point, reach, radius }: Node, from: Point): number =>
  ground(Math.max(0, chord(from, point) - reach)) - radius

// A branch must be better by a millimetre, so that identical fences cost nothing. Far outside all fences it must be better
// by a tenth: there it cannot change the result, and the verdict shows only two digits.
const toBeat = ({ margin }: Best): number => (margin > 1000 ? margin * 0.9 : margin - 0.001)

const search = (node: Node, from: Point, best: Best): void => {
  if ('places' in node) {
    for (const place of node.places) {
      const distance = ground(chord(from, place.point))
      const margin = distance - place.radius
      if (margin >= best.margin) continue
      best.place = place
      best.margin = margin
      best.distance = distance
    }
    return
  }
  const [a, b] = node.halves
  const [boundA, boundB] = [bound(a, from), bound(b, from)]
  const [near, far] = boundA <= boundB ? [a, b] : [b, a]
  if (Math.min(boundA, boundB) < toBeat(best)) search(near, from, best)
  if (Math.max(boundA, boundB) < toBeat(best)) search(far, from, best)
}

const key = ({ name, radius, point }: Place): string => JSON.stringify([name, radius, point])

/**
 * A ball tree over the active fences, so that 10,000 cost about as much as ten. Undefined if none is active. An active
 * fence that is not valid still restricts: it contains nothing.
 */
export const compileFences = (fences: readonly Fence[]): FenceIndex | undefined => {
  const active = fences.filter(({ is_active, enabled }) => is_active !== 0 && enabled !== false)
  if (active.length === 0) return undefined
  // Sorted, so that the result does not depend on the order of storage.
  const places = active
    .map(placeOf)
    .filter((place) => place !== undefined)
    .map((place) => ({ place, key: key(place) }))
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ place }) => place)
  const root = places.length > 0 ? nodeOf(places) : undefined
  return {
    nearest: (point) => {
      const best: Best = { place: undefined, margin: Infinity, distance: Infinity }
      if (root) search(root, point, best)
      return best.place && { name: best.place.name, radius: best.place.radius, distance: best.distance }
    },
    names: () => [...new Set(places.map(({ name }) => name))],
  }
}
