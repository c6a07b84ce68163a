/** A direction from the centre of the Earth, one long. In space there is no antimeridian and a pole is nothing special. */
type Vector = readonly [x: number, y: number, z: number]
/** Metres east and north of the centre of a picture. */
export type Point = readonly [x: number, y: number]
/** Degrees (WGS84). */
export type Place = { latitude: number; longitude: number }
export type Circle = Place & { radius: number }
export type CheckedPoint = Place & { accuracy: number }

const earthRadius = 6_371_008.8
const radians = (degrees: number): number => (degrees * Math.PI) / 180
const degrees = (radians: number): number => (radians * 180) / Math.PI

const vectorOf = ({ latitude, longitude }: Place): Vector => {
  const [phi, lambda] = [radians(latitude), radians(longitude)]
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
}
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

/** East and north at a place. At a pole they are those of its longitude. */
const axesAt = ({ latitude, longitude }: Place): [east: Vector, north: Vector] => {
  const [phi, lambda] = [radians(latitude), radians(longitude)]
  return [
    [-Math.sin(lambda), Math.cos(lambda), 0],
    [-Math.sin(phi) * Math.cos(lambda), -Math.sin(phi) * Math.sin(lambda), Math.cos(phi)],
  ]
}

const placeOf = (vector: Vector): Place => ({
  latitude: degrees(Math.atan2(vector[2], Math.hypot(vector[0], vector[1]))),
  longitude: degrees(Math.atan2(vector[1], vector[0])),
})

/** The middle of the places; where they lie all around the Earth, a place from which none is on its far side. */
export const middleOf = (places: readonly Place[]): Place => {
  const vectors = places.map(vectorOf)
  const sum = [0, 1, 2].map((axis) => vectors.reduce((total, one) => total + one[axis as 0]!, 0))
  const length = Math.hypot(...sum)
  const mean = length > 1e-6 * vectors.length ? [placeOf(sum.map((one) => one / length) as never)] : []
  const axes = [0, 90, 180, -90].map((longitude) => ({ latitude: 0, longitude }))
  const nearestToFar = (place: Place): number =>
    vectors.reduce((least, one) => Math.min(least, dot(one, vectorOf(place))), 1)
  const candidates = [...mean, ...axes, { latitude: 90, longitude: 0 }, { latitude: -90, longitude: 0 }]
  // Half the way around and beyond a picture bends too much: only then is the mean given up.
  if (mean[0] && nearestToFar(mean[0]) > -0.7) return mean[0]
  return candidates.reduce((best, one) => (nearestToFar(one) > nearestToFar(best) ? one : best))
}

export type Projection = { centre: Place; pointOn(place: Place): Point; placeAt(spot: Point): Place }

/**
 * The Earth around a place, laid flat (azimuthal equidistant): distances and directions from the centre are true, so
 * that a circle is a circle at any latitude, over the antimeridian and over a pole. North is up at the centre.
 */
export const projectionAt = (centre: Place): Projection => {
  const up = vectorOf(centre)
  const [east, north] = axesAt(centre)
  return {
    centre,
    pointOn: (place) => {
      const vector = vectorOf(place)
      const [x, y] = [dot(vector, east), dot(vector, north)]
      const sine = Math.hypot(x, y)
      const stretch = sine === 0 ? 1 : Math.atan2(sine, dot(vector, up)) / sine
      return [x * stretch * earthRadius, y * stretch * earthRadius]
    },
    placeAt: ([x, y]) => {
      const angle = Math.hypot(x, y) / earthRadius
      const along = angle === 0 ? 1 : Math.sin(angle) / angle / earthRadius
      const at = (axis: 0 | 1 | 2): number =>
        up[axis] * Math.cos(angle) + (east[axis] * x + north[axis] * y) * along
      return placeOf([at(0), at(1), at(2)])
    },
  }
}

/** `count` places on the edge of a circle on the ground, clockwise from its east. */
export const edgeOf = (circle: Circle, count: number): Place[] => {
  const up = vectorOf(circle)
  const [east, north] = axesAt(circle)
  const angle = circle.radius / earthRadius
  return Array.from({ length: count }, (_, i) => {
    const turn = (2 * Math.PI * i) / count
    const at = (axis: 0 | 1 | 2): number =>
      up[axis] * Math.cos(angle) +
      (east[axis] * Math.cos(turn) - north[axis] * Math.sin(turn)) * Math.sin(angle)
    return placeOf([at(0), at(1), at(2)])
  })
}

/** What a map shows: the Earth laid flat, and the box (metres) that holds all fences whole and the checked point. */
export type View = { projection: Projection; left: number; right: number; bottom: number; top: number }

const extreme = (numbers: readonly number[], of: (a: number, b: number) => number): number =>
  numbers.reduce((a, b) => of(a, b))

/** At least one circle is needed. */
export const viewOf = (circles: readonly Circle[], point: CheckedPoint | undefined): View => {
  const projection = projectionAt(middleOf(point ? [...circles, point] : circles))
  const spots = [...circles.flatMap((circle) => edgeOf(circle, 36)), ...(point ? [point] : [])].map(
    projection.pointOn,
  )
  const [xs, ys] = [spots.map(([x]) => x), spots.map(([, y]) => y)]
  return {
    projection,
    left: extreme(xs, Math.min),
    right: extreme(xs, Math.max),
    bottom: extreme(ys, Math.min),
    top: extreme(ys, Math.max),
  }
}

/** The longest of 1, 2, 5, 10, 20 … that is no longer than this. */
export const roundLength = (most: number): number => {
  const power = 10 ** Math.floor(Math.log10(most))
  return [5, 2, 1].find((step) => step * power <= most)! * power
}

/** `850 m`, `2.5 km`, `1,200 km`. */
export const lengthText = (metres: number): string => {
  if (metres < 1000) return `${Number(metres.toPrecision(3))} m`
  const digits = metres < 100_000 ? 1 : 0
  return `${(metres / 1000).toLocaleString('en', { maximumFractionDigits: digits })} km`
}

/** Degrees, to the metre; `digits`: fewer where a map shows a large part of the Earth. */
export const placeText = ({ latitude, longitude }: Place, digits = 5): string =>
  `${latitude.toFixed(digits)}, ${longitude.toFixed(digits)}`
