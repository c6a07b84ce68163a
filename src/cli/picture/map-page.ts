import { fenceGrid, type DrawnFence } from './fences.ts'
import {
  edgeOf,
  lengthText,
  roundLength,
  viewOf,
  type CheckedPoint,
  type Circle,
  type Coordinates,
  type Point,
  type View,
} from './projection.ts'
import { pageOf, pageTable, pageText } from './page.ts'
import { createLabels } from './label-placement.ts'

/** A parallel or meridian: its points in metres from the centre, and its label. */
type GridLine = { points: Point[]; text: string; parallel: boolean }

const samples = 24

/** A longitude within 180 degrees of the centre's, so that the antimeridian is not an edge. */
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

/** The round degrees in the view, about five in each direction. */
const gridOf = ({ projection, left, right, bottom, top }: View): GridLine[] => {
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
  const line = (parallel: boolean, text: string, place: (t: number) => Coordinates): GridLine => ({
    parallel,
    text,
    points: Array.from({ length: 4 * samples + 1 }, (_, i) => pointOn(place(i / (4 * samples)))),
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

type MapPage = {
  title: string
  fences: readonly DrawnFence[]
  point: CheckedPoint | undefined
  verdict: string | undefined
}

const width = 960
const height = 620
const margin = 56
/** A smaller geofence is drawn as a dot of this radius. */
const least = 4
/** The size of a mark with the space around it. */
const letter = 18

/** The view widened to the shape of the picture, so that the grid fills it. */
const widened = (view: View): { view: View; at: (point: Point) => Point; pixel: number } => {
  const { left, right, bottom, top } = view
  const pixel = Math.max((right - left) / (width - 2 * margin), (top - bottom) / (height - 2 * margin))
  const [x, y] = [(left + right) / 2 - (width / 2) * pixel, (bottom + top) / 2 + (height / 2) * pixel]
  return {
    pixel,
    view: { ...view, left: x, right: x + width * pixel, top: y, bottom: y - height * pixel },
    at: ([east, north]) => [(east - x) / pixel, (y - north) / pixel],
  }
}

const inside = ([x, y]: Point): boolean => x >= 0 && y >= 0 && x <= width && y <= height
const path = (points: readonly Point[]): string =>
  points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('')

const drawGrid = (view: View, at: (point: Point) => Point): string =>
  gridOf(view)
    .map(({ points, text, parallel }) => {
      const placed = points.map(at)
      const seen = placed.filter(inside)
      const edge = ([x, y]: Point): number => (parallel ? x : height - y)
      const end = seen.reduce<Point | undefined>((a, b) => (a && edge(a) <= edge(b) ? a : b), undefined)
      // Only near the edge of the map, so that no label covers a geofence.
      const label =
        end && edge(end) < 40
          ? `<text class="degrees" x="${Math.max(end[0] + 5, 8).toFixed(0)}" y="${Math.min(Math.max(end[1] - 5, 14), height - 8).toFixed(0)}">${text}</text>`
          : ''
      return `<path class="grid" d="${path(placed)}"/>${label}`
    })
    .join('\n')

const drawing = ({ title, fences, point }: MapPage): string => {
  const { view, at, pixel } = widened(viewOf(fences, point))
  const pointOn = (place: Circle | CheckedPoint): Point => at(view.projection.pointOn(place))
  const round = (circle: Circle, look: string): string => {
    const [x, y] = pointOn(circle)
    if (circle.radius / pixel < least)
      return `<circle class="${look}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${least}"/>`
    const edge = edgeOf(circle, 96).map((place) => at(view.projection.pointOn(place)))
    return `<path class="${look}" d="${path(edge)}Z"/>`
  }
  const circles = fences
    .toSorted((a, b) => b.radius - a.radius)
    .map((fence) => round(fence, fence.active ? 'fence' : 'fence off'))
  const labels = createLabels(width, height)
  const here = point && pointOn(point)
  if (here) labels.place({ x: here[0] - 12, y: here[1] - 12, width: 24, height: 24 }, 0)
  const marks = fences
    .toSorted((a, b) => a.radius - b.radius)
    .map((fence) => {
      const [x, y] = pointOn(fence)
      const wide = letter * (0.4 + 0.6 * fence.mark.length)
      const box = labels.place({ x: x - wide / 2, y: y - letter / 2, width: wide, height: letter }, 1)
      if (!box) return ''
      return `<text class="mark${fence.active ? '' : ' off'}" x="${(box.x + wide / 2).toFixed(1)}" y="${(box.y + letter / 2).toFixed(1)}">${fence.mark}</text>`
    })
  const bar = roundLength((width / 5) * pixel)
  const left = width - 24 - bar / pixel
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title about">
<title id="title">${pageText(title)}</title>
<desc id="about">A map with north up. The table below lists every geofence with its letter, centre and radius.</desc>
${drawGrid(view, at)}
${circles.join('\n')}
${
  point && here
    ? `${point.accuracy > 0 ? round({ ...point, radius: point.accuracy }, 'near') : ''}
<path class="here" d="M${here[0] - 11} ${here[1]}h22M${here[0]} ${here[1] - 11}v22"/><circle class="here" cx="${here[0]}" cy="${here[1]}" r="6"/>`
    : ''
}
${marks.join('\n')}
<path class="bar" d="M${left.toFixed(1)} ${height - 50}v8h${(bar / pixel).toFixed(1)}v-8"/>
<text class="small" x="${left.toFixed(1)}" y="${height - 56}">${lengthText(bar)}</text>
<path class="bar" d="M${width - 32} 50V24m-6 8l6 -8l6 8"/><text class="small" x="${width - 37}" y="80">N</text>
</svg>`
}

const countText = (count: number): string =>
  count === 0
    ? 'No geofences.'
    : `${count} ${count === 1 ? 'geofence' : 'geofences'}. Dashed with small letters: inactive.`

/** One HTML file with the map, the verdict on the point, and a table of the geofences. */
export const mapPage = (map: MapPage): string =>
  pageOf(
    map.title,
    [
      `<p>${countText(map.fences.length)}</p>`,
      map.verdict === undefined ? '' : `<p class="verdict">${pageText(map.verdict)}</p>`,
      ...(map.fences.length > 0
        ? [
            `<figure>\n${drawing(map)}\n</figure>`,
            pageTable('Table of the geofences', fenceGrid(map.fences), (i) => !map.fences[i]!.active),
          ]
        : []),
    ].join('\n'),
  )
