import { geofence } from '../../contract/geofence.ts'
import { pointAt } from '../../factors/earth.ts'
import type { Context } from '../context/context.ts'
import { readLevelRows, type Row } from './level-rows.ts'
import { pageOf, pageTable, requireFile } from './page.ts'

type Fence = {
  of: 'organization' | 'user'
  name: string
  latitude: number
  longitude: number
  radius: number
  active: boolean
}

/** The rows that have a location and a radius. As in the rules, only an explicit value makes a geofence inactive. */
const readFences = (rows: readonly Row[], of: Fence['of']): Fence[] =>
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

const width = 960
const height = 620
const margin = 56
const degree = 111_195
/** At a pole a circle would be infinitely wide. */
const cosine = (latitude: number): number => Math.max(0.02, Math.cos((latitude * Math.PI) / 180))

/** `850 m`, `2.5 km`, `1,200 km`. */
const lengthText = (metres: number): string =>
  metres < 1000
    ? `${Number(metres.toPrecision(3))} m`
    : `${(metres / 1000).toLocaleString('en', { maximumFractionDigits: metres < 100_000 ? 1 : 0 })} km`

/** The largest of 1, 2, 5, 10, 20 … that is at most this. */
const roundLength = (most: number): number => {
  const power = 10 ** Math.floor(Math.log10(most))
  return [5, 2, 1].find((step) => step * power <= most)! * power
}

/** The fences in metres from the first one, also across the date line, on a map that is true to scale in its middle. */
const placed = (fences: readonly Fence[]) => {
  const latitudes = fences.map(({ latitude }) => latitude)
  const middle = (Math.min(...latitudes) + Math.max(...latitudes)) / 2
  return fences.map(({ latitude, longitude, radius }) => ({
    x: (((longitude - fences[0]!.longitude + 540) % 360) - 180) * degree * cosine(middle),
    y: -latitude * degree,
    wide: (radius * cosine(middle)) / cosine(latitude),
    high: radius,
  }))
}

const drawing = (fences: readonly Fence[]): string => {
  const circles = placed(fences)
  const [left, right] = [
    Math.min(...circles.map(({ x, wide }) => x - wide)),
    Math.max(...circles.map(({ x, wide }) => x + wide)),
  ]
  const [top, bottom] = [
    Math.min(...circles.map(({ y, high }) => y - high)),
    Math.max(...circles.map(({ y, high }) => y + high)),
  ]
  const pixel = Math.max((right - left) / (width - 2 * margin), (bottom - top) / (height - 2 * margin))
  const pixels = (metres: number): string => (metres / pixel).toFixed(1)
  const shapes = circles.map(({ x, y, wide, high }, i) => {
    const [cx, cy] = [
      width / 2 + (x - (left + right) / 2) / pixel,
      height / 2 + (y - (top + bottom) / 2) / pixel,
    ]
    return `<ellipse class="fence${fences[i]!.active ? '' : ' off'}" cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" rx="${pixels(wide)}" ry="${pixels(high)}"/>
<text class="mark" x="${cx.toFixed(1)}" y="${cy.toFixed(1)}">${i + 1}</text>`
  })
  const bar = roundLength((width / 5) * pixel)
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="about">
<desc id="about">A map with north up. The table below lists every geofence with its number, centre and radius.</desc>
${shapes.join('\n')}
<path class="bar" d="M24 ${height - 32}v8h${pixels(bar)}v-8"/>
<text class="small" x="24" y="${height - 40}">${lengthText(bar)}</text>
</svg>`
}

const tableOf = (fences: readonly Fence[]): string =>
  pageTable('Geofences', {
    head: ['#', 'name', 'of', 'radius', 'centre', 'active'],
    lines: fences.map(({ name, of, radius, latitude, longitude, active }, i) => [
      String(i + 1),
      name,
      of,
      lengthText(radius),
      `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`,
      active ? 'yes' : 'no',
    ]),
  })

export const runMap = async (options: { org?: string; user?: string }, context: Context): Promise<void> => {
  await requireFile(context)
  const rows = await readLevelRows(
    { list: geofence.listGeofences, listOfUser: geofence.listUserGeofences },
    options,
    context,
  )
  const fences = [...readFences(rows.organization, 'organization'), ...readFences(rows.user, 'user')]
  const skipped = rows.organization.length + rows.user.length - fences.length
  if (skipped > 0) (await context.output()).warn(`Not shown: ${skipped} without a location or a radius`)
  const org = options.org ?? (await context.settings()).org?.value
  const whose = [options.user === undefined ? undefined : `user ${options.user}`, org].filter(Boolean)
  const body =
    fences.length === 0
      ? '<p>No geofences.</p>'
      : `<figure>\n${drawing(fences)}\n</figure>\n${tableOf(fences)}`
  context.io.stdout.write(pageOf(`Geofences of ${whose.join(' in ')}`, body))
}
