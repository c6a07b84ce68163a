import type { Issue } from '../../core/errors.ts'
import { columnOf, unknownColumn } from './columns.ts'
import type { Fields, Kind, RawRow } from './kind.ts'

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

export const isFeatureCollection = (value: unknown): value is { features: unknown[] } =>
  isObject(value) && value['type'] === 'FeatureCollection' && Array.isArray(value['features'])

/** Of a Point, its coordinates: longitude first, and a height that nobody needs. */
const placeOf = (geometry: unknown): { fields: Fields } | Issue => {
  const shape = isObject(geometry) ? geometry : {}
  if (shape['type'] !== 'Point')
    return {
      field: 'geometry',
      message: `is ${typeof shape['type'] === 'string' ? `a ${shape['type'].slice(0, 40)}` : 'missing'}; a geo-fence is a circle: give a Point and the property radius`,
    }
  const at = shape['coordinates']
  if (!Array.isArray(at) || at.length < 2 || at.length > 3)
    return { field: 'coordinates', message: 'must be [longitude, latitude]' }
  return { fields: { longitude: at[0], latitude: at[1] } }
}

/** Each feature as a row: the coordinates of its Point, and its properties. */
export const readFeatures = ({ features }: { features: unknown[] }, kind: Kind): RawRow[] =>
  features.map((feature, i) => {
    const row = i + 1
    if (!isObject(feature) || feature['type'] !== 'Feature')
      return { row, fields: {}, issues: [{ field: 'type', message: 'must be Feature' }] }
    const place = placeOf(feature['geometry'])
    const issues: Issue[] = 'fields' in place ? [] : [place]
    const fields: Fields = 'fields' in place ? place.fields : {}
    const properties = isObject(feature['properties']) ? feature['properties'] : {}
    for (const [name, value] of Object.entries(properties)) {
      const column = columnOf(kind, name)
      if (column === undefined) issues.push(unknownColumn(kind, name))
      else if (Object.hasOwn(fields, column) || column === 'latitude' || column === 'longitude')
        issues.push({
          field: `properties.${name}`,
          message: 'is said by the geometry or by another property',
        })
      else fields[column] = value
    }
    return issues.length > 0 ? { row, fields, issues } : { row, fields }
  })

/** A geo-fence as a feature. */
export const featureOf = ({ latitude, longitude, ...properties }: Fields): object => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [longitude, latitude] },
  properties,
})
