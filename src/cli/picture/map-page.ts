import { fenceGrid, type DrawnFence } from './fences.ts'
import {
  edgeOf,
  lengthText,
  roundLength,
  viewOf,
  type CheckedPoint,
  type Circle,
  type Point,
  type View,
} from './projection.ts'
import { pageOf, pageTable, pageText } from './page.ts'
import { createLabels } from './label-placement.ts'

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

/** The view in the middle of the picture, and how many metres a pixel is. */
const scaleOf = ({ left, right, bottom, top }: View): { at: (point: Point) => Point; pixel: number } => {
  const pixel = Math.max((right - left) / (width - 2 * margin), (top - bottom) / (height - 2 * margin))
  const [x, y] = [(left + right) / 2 - (width / 2) * pixel, (bottom + top) / 2 + (height / 2) * pixel]
  return { pixel, at: ([east, north]) => [(east - x) / pixel, (y - north) / pixel] }
}

const path = (points: readonly Point[]): string =>
  points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('')

const drawing = ({ title, fences, point }: MapPage): string => {
  const view = viewOf(fences, point)
  const { at, pixel } = scaleOf(view)
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
