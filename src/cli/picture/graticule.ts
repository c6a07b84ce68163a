import type { Place, Point } from './projection.ts'
import { roundLength, type View } from './view.ts'

/** One parallel or meridian, in metres from the middle, and its degrees as people write them. */
export type GridLine = { spots: Point[]; text: string; parallel: boolean }

const samples = 24

/** Longitudes as they go on from the middle's, so that the antimeridian is no edge. */
const unrolled = (longitude: number, middle: number): number =>
  middle + ((((longitude - middle + 180) % 360) + 360) % 360) - 180

const degreesText = (value: number, step: number, [plus, minus]: [string, string]): string => {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  const text = Math.abs(value).toFixed(digits)
  return `${text}°${Number(text) === 0 ? '' : value > 0 ? plus : minus}`
}

const steps = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.floor(to / step) - Math.ceil(from / step) + 1 }, (_, i) =>
    Number(((Math.ceil(from / step) + i) * step).toFixed(9)),
  )

/** Round degrees that cross the view, five or so each way. */
export const gridOf = ({ projection, left, right, bottom, top }: View): GridLine[] => {
  const { centre, placeAt, pointOn } = projection
  const along = Array.from({ length: samples + 1 }, (_, i) => i / samples)
  const places = along.flatMap((x) =>
    along.map((y) => placeAt([left + x * (right - left), bottom + y * (top - bottom)])),
  )
  const longitudes = places.map(({ longitude }) => unrolled(longitude, centre.longitude))
  let [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  let [south, north] = [
    Math.min(...places.map(({ latitude }) => latitude)),
    Math.max(...places.map(({ latitude }) => latitude)),
  ]
  for (const pole of [90, -90]) {
    const [x, y] = pointOn({ latitude: pole, longitude: 0 })
    if (x < left || x > right || y < bottom || y > top) continue
    ;[west, east] = [centre.longitude - 180, centre.longitude + 180]
    if (pole > 0) north = 90
    else south = -90
  }
  const line = (parallel: boolean, text: string, place: (t: number) => Place): GridLine => ({
    parallel,
    text,
    spots: Array.from({ length: 4 * samples + 1 }, (_, i) => pointOn(place(i / (4 * samples)))),
  })
  const [up, across] = [roundLength((north - south) / 3), Math.min(30, roundLength((east - west) / 4))]
  return [
    ...steps(south, north, up).map((latitude) =>
      line(true, degreesText(latitude, up, ['N', 'S']), (t) => ({
        latitude,
        longitude: west + t * (east - west),
      })),
    ),
    ...steps(west, east, across).map((longitude) =>
      line(false, degreesText(unrolled(longitude, 0), across, ['E', 'W']), (t) => ({
        latitude: south + t * (north - south),
        longitude,
      })),
    ),
  ]
}
