import { basename, extname } from 'node:path'
import { usageError, type Issue } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import { isRecord } from '../../core/is-record.ts'
import type { Io } from '../terminal/io.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import { readCsv } from './csv.ts'
import { fileFormats, type Fields, type FileFormat, type Kind, type RawRow } from './kind.ts'
import { columnOf, unknownColumn } from './columns.ts'

export const isFeatureCollection = (value: unknown): value is { features: unknown[] } =>
  isRecord(value) && value['type'] === 'FeatureCollection' && Array.isArray(value['features'])

/** Of a Point, its coordinates: longitude first, and a height that nobody needs. */
const placeOf = (geometry: unknown): { fields: Fields } | Issue => {
  const shape = isRecord(geometry) ? geometry : {}
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
    if (!isRecord(feature) || feature['type'] !== 'Feature')
      return { row, fields: {}, issues: [{ field: 'type', message: 'must be Feature' }] }
    const place = placeOf(feature['geometry'])
    const issues: Issue[] = 'fields' in place ? [] : [place]
    const fields: Fields = 'fields' in place ? place.fields : {}
    for (const [name, value] of Object.entries(Object(feature['properties']) as Fields)) {
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

/** The fields of one object under the names of the columns. */
const rowOf = (value: unknown, row: number, kind: Kind): RawRow => {
  if (!isRecord(value)) return { row, fields: {}, issues: [{ field: 'row', message: 'is no JSON object' }] }
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
    const value = parseJson(line)
    if (value === undefined) throw notJson(source, i + 1)
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

const extensions: Record<string, FileFormat> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
  '.geojson': 'geojson',
}

/** What --format says, checked. */
export const formatsOf = (kind: Pick<Kind, 'places'>): FileFormat[] =>
  fileFormats.filter((format) => format !== 'geojson' || kind.places)

export const checkFormat = (asked: string | undefined, kind: Kind): FileFormat | undefined => {
  const known = formatsOf(kind)
  if (asked === undefined || known.includes(asked as FileFormat)) return asked as FileFormat | undefined
  throw usageError(`--format must be ${known.join(', ')}, not "${asked}"`)
}

export const formatOfName = (file: string): FileFormat | undefined => extensions[extname(file).toLowerCase()]

/** By the first character: `[` starts JSON, `{` a line of NDJSON or a FeatureCollection. */
const formatOfText = (text: string, kind: Kind): FileFormat => {
  const first = /\S/.exec(text)?.[0]
  if (first === '[') return 'json'
  if (first === '{') return kind.places && isFeatureCollection(parseJson(text)) ? 'geojson' : 'ndjson'
  return 'csv'
}

export const sourceName = (file: string): string =>
  file === '-' ? 'standard input' : safeLine(basename(file))

/** The rows of a file or of standard input, none of them checked, and its SHA-256. Fails with a usage error. */
export const readRows = async (
  file: string,
  asked: FileFormat | undefined,
  kind: Kind,
  io: Io,
): Promise<{ rows: RawRow[]; sha256: string }> => {
  const bytes = await readInput(file, io, { split: 'Split it and import the parts one by one' })
  return { rows: rowsIn(bytes, { file, asked }, kind), sha256: sha256(bytes) }
}

const rowsIn = (
  bytes: Buffer,
  { file, asked }: { file: string; asked: FileFormat | undefined },
  kind: Kind,
): RawRow[] => {
  const source = sourceName(file)
  const text = textOf(bytes, source)
  const format = asked ?? (file === '-' ? undefined : formatOfName(file)) ?? formatOfText(text, kind)
  if (format === 'csv') return readCsv(text, kind, source)
  if (format === 'ndjson') return readNdjson(text, kind, source)
  if (format === 'geojson' && !kind.places)
    throw usageError(`GeoJSON is for geo-fences, not for ${kind.many}`)
  return readJson(text, kind, source)
}
