import { fieldsOf } from '../../contract/describe.ts'
import { geofence } from '../../contract/geofence.ts'
import { usageError } from '../../core/errors.ts'
import { pointAt } from '../../factors/earth.ts'
import type { Fence } from '../../factors/fence-index.ts'
import { compileLevel, type Level } from '../../factors/level.ts'
import { checkLocation } from '../../factors/location.ts'
import type { Context } from '../context/context.ts'
import { parseScalar } from '../operation/flags.ts'
import { markFences, readFences, type DrawnFence } from './fences.ts'
import { placeText, type CheckedPoint } from './projection.ts'
import { readLevelRows, verdictFor } from './level-rows.ts'
import { checkPicture, writePicture } from './picture-output.ts'

type Options = {
  org?: string
  user?: string
  latitude?: string
  longitude?: string
  accuracy?: string
  html?: string
}

const parse = (flag: string, text: string): number =>
  parseScalar(
    fieldsOf(geofence.checkGeofence).find((field) => field.flag === flag)!,
    text,
  ) as number

const readPoint = (options: Options): CheckedPoint | undefined => {
  const { latitude, longitude, accuracy = '0' } = options
  if (latitude === undefined && longitude === undefined && options.accuracy === undefined) return undefined
  if (latitude === undefined || longitude === undefined)
    throw usageError(
      'A location requires both --latitude and --longitude',
      '--latitude 52.5201 --longitude 13.4049',
    )
  const point = {
    latitude: parse('latitude', latitude),
    longitude: parse('longitude', longitude),
    accuracy: parse('accuracy', accuracy),
  }
  if (!pointAt(point.latitude, 0)) throw usageError(`--latitude must be -90 to 90 degrees, not ${latitude}`)
  if (!pointAt(0, point.longitude))
    throw usageError(`--longitude must be -180 to 180 degrees, not ${longitude}`)
  if (point.accuracy < 0) throw usageError(`--accuracy must be 0 metres or more, not ${accuracy}`)
  return point
}

type Row = Record<string, unknown>

const compile = (fences: Row[]): Level => compileLevel({ fences: fences as Fence[], slots: [] })

const check = (rows: Record<'organization' | 'user', Row[]>, point: CheckedPoint, now: Date) => {
  const levels = { organization: compile(rows.organization), user: compile(rows.user) }
  const at = now.toISOString()
  return verdictFor(placeText(point), checkLocation(levels, { ...point, accuracy_m: point.accuracy, at }, at))
}

const known = ['of', 'name', 'latitude', 'longitude', 'radius', 'is_active']

const dataOf = (fences: readonly DrawnFence[]) =>
  fences.map(({ of, name, latitude, longitude, radius, active, distance }) => ({
    of,
    name,
    latitude,
    longitude,
    radius,
    is_active: active ? 1 : 0,
    ...(distance !== undefined && { distance_m: distance }),
  }))

export const runMap = async (options: Options, context: Context): Promise<void> => {
  const { user, html } = options
  const point = readPoint(options)
  checkPicture(html, context)
  const output = await context.output()
  const { organization = [], user: own = [] } = await readLevelRows(
    { list: geofence.listGeofences, listOfUser: geofence.listUserGeofences },
    options,
    context,
  )
  const read = [...readFences(organization, 'organization'), ...readFences(own, 'user')]
  const fences = markFences(read, point)
  const skipped = organization.length + own.length - read.length
  if (skipped > 0) output.warn(`Not shown: ${skipped} without a location or a radius`)
  const verdict = point && check({ organization, user: own }, point, context.io.now())

  if (html === undefined) {
    if (verdict) output.note(verdict.text)
    return output.report('Geofences', dataOf(fences), { known })
  }
  const { mapPage } = await import('./map-page.ts')
  const org = options.org ?? (await context.settings()).org?.value
  const whose = [user === undefined ? undefined : `user ${user}`, org].filter((one) => one !== undefined)
  const title = `Geofences of ${whose.join(' in ')}`
  await writePicture(html, mapPage({ title, fences, point, verdict: verdict?.text }), context)
}
