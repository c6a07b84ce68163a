import { fieldsOf } from '../../contract/describe.ts'
import { geofence } from '../../contract/geofence.ts'
import { usageError } from '../../core/errors.ts'
import { safeJson } from '../../core/safe-text.ts'
import { pointAt } from '../../rules/earth.ts'
import type { Fence } from '../../rules/fence-index.ts'
import { compileLevel, type Level } from '../../rules/level.ts'
import { checkLocation } from '../../rules/location.ts'
import type { Context } from '../context/context.ts'
import { parseScalar } from '../operation/flags.ts'
import { writePaged } from '../terminal/output.ts'
import { markFences, readFences, type DrawnFence, geojsonOf } from './fences.ts'
import { placeText, type CheckedPoint } from './projection.ts'
import { rowsOfLevels, type LevelRows } from './level-rows.ts'
import { mapText, type PointVerdict } from './map-drawing.ts'
import { checkPicture, pictureWidth, wantsPicture, writePicture } from './colors.ts'

type Options = {
  org?: string
  user?: string
  latitude?: string
  longitude?: string
  accuracy?: string
  html?: string
  geojson?: string
  width?: string
}

const numberOf = (flag: string, text: string): number => {
  const field = fieldsOf(geofence.checkGeofence).find((one) => one.flag === flag)!
  return parseScalar(field, text) as number
}

const pointOf = ({ latitude, longitude, accuracy }: Options): CheckedPoint | undefined => {
  if (latitude === undefined && longitude === undefined && accuracy === undefined) return undefined
  if (latitude === undefined || longitude === undefined)
    throw usageError(
      'A place requires both --latitude and --longitude',
      '--latitude 52.5201 --longitude 13.4049',
    )
  const point = {
    latitude: numberOf('latitude', latitude),
    longitude: numberOf('longitude', longitude),
    accuracy: accuracy === undefined ? 0 : numberOf('accuracy', accuracy),
  }
  if (!pointAt(point.latitude, 0)) throw usageError(`--latitude must be -90 to 90 degrees, not ${latitude}`)
  if (!pointAt(0, point.longitude))
    throw usageError(`--longitude must be -180 to 180 degrees, not ${longitude}`)
  if (point.accuracy < 0) throw usageError(`--accuracy must be 0 metres or more, not ${accuracy}`)
  return point
}

const widthOf = ({ width }: Options, context: Context): number => {
  if (width === undefined) return Math.max(20, pictureWidth(context, 120))
  if (!/^\d{2,3}$/.test(width) || Number(width) < 20 || Number(width) > 500)
    throw usageError(`--width must be 20 to 500 columns, not ${width}`, '--width 100')
  return Number(width)
}

const levelOf = (fences: Record<string, unknown>[] = []): Level =>
  compileLevel({ fences: fences as Fence[], slots: [] })

/** What the rules say, in the words of `svc geofence check`. */
const verdictOf = (rows: LevelRows, point: CheckedPoint, now: Date): PointVerdict => {
  const levels = { organization: levelOf(rows.organization), user: levelOf(rows.user) }
  const at = now.toISOString()
  const { result, reason } = checkLocation(levels, { ...point, accuracy_m: point.accuracy, at }, at)
  const passes = result === 'PASS' || result === 'NOT_APPLICABLE'
  return { passes, text: `${placeText(point)} would ${passes ? '' : 'not '}pass: ${reason}` }
}

/** The fields of a fence as data. */
const known = ['mark', 'of', 'name', 'latitude', 'longitude', 'radius', 'is_active']

const dataOf = (fences: readonly DrawnFence[]) =>
  fences.map(({ mark, of, name, latitude, longitude, radius, active, distance }) => ({
    mark,
    of,
    name,
    latitude,
    longitude,
    radius,
    is_active: active ? 1 : 0,
    ...(distance !== undefined && { distance_m: distance }),
  }))

const titleOf = ({ user }: Options, org: string | undefined): string => {
  const whose = [user === undefined ? undefined : `user ${user}`, org].filter((one) => one !== undefined)
  return `Geo-fences of ${whose.join(' in ')}`
}

export const runMap = async (options: Options, context: Context): Promise<void> => {
  const { io } = context
  const point = pointOf(options)
  const width = widthOf(options, context)
  checkPicture('--html', options.html, context)
  checkPicture('--geojson', options.geojson, context)
  const output = await context.output()
  const rows = await rowsOfLevels(
    { list: geofence.listGeofences, listOfUser: geofence.listUserGeofences },
    options,
    context,
  )
  const read = [
    ...readFences(rows.organization ?? [], 'organization'),
    ...readFences(rows.user ?? [], 'user'),
  ]
  const fences = markFences(read, point)
  const unread = (rows.organization?.length ?? 0) + (rows.user?.length ?? 0) - read.length
  if (unread > 0) output.warn(`${unread} without a place or a radius were not drawn`)
  const verdict = point && verdictOf(rows, point, io.now())

  if (options.geojson !== undefined) {
    await writePicture('--geojson', options.geojson, `${safeJson(geojsonOf(fences), 2)}\n`, context)
  }
  if (options.html !== undefined) {
    const { mapPage } = await import('./map-page.ts')
    const title = titleOf(options, options.org ?? (await context.settings()).org?.value)
    await writePicture(
      '--html',
      options.html,
      mapPage({ title, fences, point, verdict: verdict?.text }),
      context,
    )
  }
  if (options.html !== undefined || options.geojson !== undefined) {
    if (verdict) output.note(verdict.text)
    return
  }
  if (!wantsPicture(context)) {
    if (verdict) output.note(verdict.text)
    return output.show({ status: 'success', message: 'Geo-fences', data: dataOf(fences) }, { known })
  }
  await writePaged(mapText({ fences, point, verdict, width }, context), context)
}
