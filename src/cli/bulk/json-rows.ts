import { usageError } from '../../core/errors.ts'
import { columnOf, unknownColumn } from './columns.ts'
import { isFeatureCollection, readFeatures } from './geojson.ts'
import type { Fields, Kind, RawRow } from './kind.ts'

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of one object under the names of the columns. */
const rowOf = (value: unknown, row: number, kind: Kind): RawRow => {
  if (!isObject(value)) return { row, fields: {}, issues: [{ field: 'row', message: 'is no JSON object' }] }
  const fields: Fields = {}
  const issues = []
  for (const [name, inner] of Object.entries(value)) {
    const column = columnOf(kind, name)
    if (column === undefined) issues.push(unknownColumn(kind, name))
    else if (Object.hasOwn(fields, column))
      issues.push({ field: column, message: 'is given under two names' })
    else fields[column] = inner
  }
  return issues.length > 0 ? { row, fields, issues } : { row, fields }
}

const notJson = (source: string, row: number): Error =>
  usageError(`${source}, row ${row}: this is not valid JSON`, 'NDJSON has one JSON object on each line')

export const readNdjson = (text: string, kind: Kind, source: string): RawRow[] =>
  text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return []
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      throw notJson(source, i + 1)
    }
    return [rowOf(value, i + 1, kind)]
  })

/** A JSON array of objects; of places also a GeoJSON FeatureCollection. */
export const readJson = (text: string, kind: Kind, source: string): RawRow[] => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw usageError(`${source} is not valid JSON: ${(error as Error).message.slice(0, 120)}`)
  }
  if (kind.places && isFeatureCollection(value)) return readFeatures(value, kind)
  if (Array.isArray(value)) return value.map((one, i) => rowOf(one, i + 1, kind))
  throw usageError(
    `${source} must hold a JSON array of ${kind.many}${kind.places ? ' or a GeoJSON FeatureCollection' : ''}`,
  )
}
