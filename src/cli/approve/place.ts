import { usageError } from '../../core/errors.ts'
import type { Place } from './pending.ts'

/** Whether this is a number of degrees from -most to most. */
export const isDegrees = (text: string, most: number): boolean =>
  /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(text) && Math.abs(Number(text)) <= most

export const placeAt = (latitude: number, longitude: number): Place => ({
  latitude,
  longitude,
  accuracy_m: 0,
  age_ms: 0,
})

const degrees = (flag: string, text: string, most: number): number => {
  if (!isDegrees(text, most)) throw usageError(`${flag} must be between -${most} and ${most}, not "${text}"`)
  return Number(text)
}

/** The place in --latitude and --longitude; undefined without either. */
export const readPlace = (latitude: string | undefined, longitude: string | undefined): Place | undefined => {
  if (latitude === undefined && longitude === undefined) return undefined
  if (latitude === undefined) throw usageError('--longitude requires --latitude')
  if (longitude === undefined) throw usageError('--latitude requires --longitude')
  return placeAt(degrees('--latitude', latitude, 90), degrees('--longitude', longitude, 180))
}
