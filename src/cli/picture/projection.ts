/** A vector from the centre of the Earth. In space, the antimeridian and the poles need no special case. */
type Vector = readonly [x: number, y: number, z: number]
/** Metres east and north of the centre of the map. */
export type Point = readonly [x: number, y: number]
/** Degrees (WGS84). */
export type Coordinates = { latitude: number; longitude: number }
export type Circle = Coordinates & { radius: number }
export type CheckedPoint = Coordinates & { accuracy: number }

const earthRadius = 6_371_008.8
const radians = (degrees: number): number => (degrees * Math.PI) / 180
const degrees = (radians: number): number => (radians * 180) / Math.PI

const vectorOf = ({ latitude, longitude }: Coordinates): Vector => {
  const [phi, lambda] = [radians(latitude), radians(longitude)]
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
}
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

const placeOf = ([x, y, z]: Vector): Coordinates => ({
  latitude: degrees(Math.atan2(z, Math.hypot(x, y))),
  longitude: degrees(Math.atan2(y, x)),
})

/** A vector made of its three coordinates. */
const vector = (at: (axis: 0 | 1 | 2) => number): Vector => [at(0), at(1), at(2)]

/** The centre of the places. If they lie all around the Earth, a place that has none of them on its far side. */
export const findCentre = (places: readonly Coordinates[]): Coordinates => {
  const vectors = places.map(vectorOf)
  const sum = vector((axis) => vectors.reduce((total, one) => total + one[axis], 0))
  const mean = Math.hypot(...sum) > 1e-6 * vectors.length ? placeOf(sum) : undefined
  /** The cosine of the angle to the farthest place. */
  const cosineToFarthest = (place: Coordinates): number =>
    vectors.reduce((least, one) => Math.min(least, dot(one, vectorOf(place))), 1)
  // Beyond that, a map is too distorted.
  if (mean && cosineToFarthest(mean) > -0.7) return mean
  const axes = [0, 90, 180, -90].map((longitude) => ({ latitude: 0, longitude }))
  const poles = [90, -90].map((latitude) => ({ latitude, longitude: 0 }))
  return [...(mean ? [mean] : []), ...axes, ...poles].reduce((best, one) =>
    cosineToFarthest(one) > cosineToFarthest(best) ? one : best,
  )
}

export type Projection = {
  centre: Coordinates
  pointOn(place: Coordinates): Point
  placeAt(point: Point): Coordinates
}

/**
 * An azimuthal equidistant map. Distances and directions from the centre are true, so a circle around the centre is a
 * circle at any latitude, across the antimeridian and around a pole. North is up at the centre.
 */
export const projectionAt = (centre: Coordinates): Projection => {
  const up = vectorOf(centre)
  const [phi, lambda] = [radians(centre.latitude), radians(centre.longitude)]
  const east: Vector = [-Math.sin(lambda), Math.cos(lambda), 0]
  const north: Vector = [-Math.sin(phi) * Math.cos(lambda), -Math.sin(phi) * Math.sin(lambda), Math.cos(phi)]
  return {
    centre,
    pointOn: (place) => {
      const to = vectorOf(place)
      const [x, y] = [dot(to, east), dot(to, north)]
      const sine = Math.hypot(x, y)
      const stretch = sine === 0 ? 1 : Math.atan2(sine, dot(to, up)) / sine
      return [x * stretch * earthRadius, y * stretch * earthRadius]
    },
    placeAt: ([x, y]) => {
      const angle = Math.hypot(x, y) / earthRadius
      const along = angle === 0 ? 1 : Math.sin(angle) / angle / earthRadius
      return placeOf(
        vector((axis) => up[axis] * Math.cos(angle) + (east[axis] * x + north[axis] * y) * along),
      )
    },
  }
}

/** `count` places on the edge of a circle on the ground, clockwise from the east. */
export const edgeOf = (circle: Circle, count: number): Coordinates[] => {
  const { placeAt } = projectionAt(circle)
  return Array.from({ length: count }, (_, i) => {
    const turn = (2 * Math.PI * i) / count
    return placeAt([circle.radius * Math.cos(turn), -circle.radius * Math.sin(turn)])
  })
}

/** The projection, and the box in metres that contains every fence and the checked point. */
export type View = { projection: Projection; left: number; right: number; bottom: number; top: number }

/** Requires at least one circle. */
export const viewOf = (circles: readonly Circle[], point: CheckedPoint | undefined): View => {
  const checked = point ? [point] : []
  const projection = projectionAt(findCentre([...circles, ...checked]))
  const view: View = { projection, left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity }
  for (const place of [...circles.flatMap((circle) => edgeOf(circle, 36)), ...checked]) {
    const [x, y] = projection.pointOn(place)
    view.left = Math.min(view.left, x)
    view.right = Math.max(view.right, x)
    view.bottom = Math.min(view.bottom, y)
    view.top = Math.max(view.top, y)
  }
  return view
}

/** The largest of 1, 2, 5, 10, 20 … that is at most this. */
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

/** Degrees: five digits are one metre. */
export const placeText = ({ latitude, longitude }: Coordinates): string =>
  `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`
