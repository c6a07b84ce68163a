import { basename, extname } from 'node:path'
import { parse, type CsvError } from 'csv-parse/sync'
import { SvcError, usageError, type Issue } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import { isRecord } from '../../core/is-record.ts'
import type { Io } from '../terminal/io.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import { readCell } from '../terminal/render.ts'
import { fileFormats, type Fields, type FileFormat, type Kind, type RawRow } from './kind.ts'
import { columnOf, requiredColumns, unknownColumn } from './columns.ts'

const isFeatureCollection = (value: unknown): value is { features: unknown[] } =>
  isRecord(value) && value['type'] === 'FeatureCollection' && Array.isArray(value['features'])

/** The coordinates of a Point: longitude, latitude and, ignored, a height. */
const readPoint = (geometry: unknown): { fields: Fields } | Issue => {
  const shape = isRecord(geometry) ? geometry : {}
  if (shape['type'] !== 'Point')
    return {
      field: 'geometry',
      message: `is ${typeof shape['type'] === 'string' ? `a ${shape['type'].slice(0, 40)}` : 'missing'}; a geofence is a circle: use a Point with the property radius`,
    }
  const at = shape['coordinates']
  if (!Array.isArray(at) || at.length < 2 || at.length > 3)
    return { field: 'coordinates', message: 'must be [longitude, latitude]' }
  return { fields: { longitude: at[0], latitude: at[1] } }
}

/** Adds the values to the fields of a row, under the names of their columns. */
const addFields = (
  fields: Fields,
  values: object,
  kind: Kind,
  repeated: (name: string, column: string) => Issue,
): Issue[] =>
  Object.entries(values).flatMap(([name, value]) => {
    const column = columnOf(kind, name)
    if (column === undefined) return [unknownColumn(kind, name)]
    if (Object.hasOwn(fields, column)) return [repeated(name, column)]
    fields[column] = value
    return []
  })

const setTwice = (name: string): Issue => ({
  field: `properties.${name}`,
  message: 'is already set by the geometry or another property',
})

/** Each feature as a row: the coordinates of its Point, and its properties. */
export const readFeatures = ({ features }: { features: unknown[] }, kind: Kind): RawRow[] =>
  features.map((feature, i) => {
    const row = i + 1
    if (!isRecord(feature) || feature['type'] !== 'Feature')
      return { row, fields: {}, issues: [{ field: 'type', message: 'must be Feature' }] }
    const point = readPoint(feature['geometry'])
    const isPoint = 'fields' in point
    const fields: Fields = isPoint ? point.fields : { longitude: undefined, latitude: undefined }
    const issues = addFields(fields, Object(feature['properties']) as object, kind, setTwice)
    return { row, fields, issues: isPoint ? issues : [point, ...issues] }
  })

/** A geofence as a feature. */
export const featureOf = ({ latitude, longitude, ...properties }: Fields): object => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [longitude, latitude] },
  properties,
})

const readRow = (value: unknown, row: number, kind: Kind): RawRow => {
  if (!isRecord(value))
    return { row, fields: {}, issues: [{ field: 'row', message: 'is not a JSON object' }] }
  const fields: Fields = {}
  const issues = addFields(fields, value, kind, (_, field) => ({
    field,
    message: 'is set under two names',
  }))
  return { row, fields, issues }
}

const readNdjson = (text: string, kind: Kind, source: string): RawRow[] =>
  text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return []
    const value = parseJson(line)
    if (value === undefined)
      throw usageError(
        `${source}, row ${i + 1}: this is not valid JSON`,
        'NDJSON has one JSON object on each line',
      )
    return [readRow(value, i + 1, kind)]
  })

/** Spreadsheets save `;` in countries where the comma is the decimal separator. */
const findDelimiter = (text: string): string => {
  const [header = ''] = text.split(/[\r\n]/, 1)
  return [',', ';', '\t'].find((one) => header.includes(one)) ?? ','
}

const words: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  INVALID_OPENING_QUOTE: 'there is a quote inside a cell; double it ("") and quote the whole cell',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote; double a quote inside a cell ("")',
}

const readHeader = (header: string[], kind: Kind, source: string): string[] => {
  const names = header.map((name) => readCell(name))
  const unknown = names.filter((name) => columnOf(kind, name) === undefined)
  if (unknown.length > 0)
    throw new SvcError('usage', 'unknown_column', `${source} has unknown columns`, {
      issues: unknown.slice(0, 20).map((name) => unknownColumn(kind, name)),
      hint: `The first line names the columns: ${kind.columns.join(',')}`,
    })
  const columns = names.map((name) => columnOf(kind, name)!)
  const twice = columns.find((name, i) => columns.indexOf(name) !== i)
  if (twice) throw usageError(`${source} has two columns for ${twice}`)
  const missing = requiredColumns(kind).filter((name) => !columns.includes(name))
  if (missing.length > 0)
    throw usageError(
      `${source} has no column ${missing.join(', ')}`,
      `The columns of ${kind.many} are ${kind.columns.join(',')}`,
    )
  return columns
}

/** Reads CSV (RFC 4180). The first line names the columns. */
const readCsv = (text: string, kind: Kind, source: string): RawRow[] => {
  const rows: RawRow[] = []
  let columns: string[] | undefined
  let last = 0
  const add = (cells: string[], lines: number): void => {
    last = lines
    if (!columns) {
      columns = readHeader(cells, kind, source)
      return
    }
    const fields: Fields = {}
    for (const [i, name] of columns.entries()) fields[name] = readCell(cells[i] ?? '')
    // The parser reports the last line of a row, and a cell can contain line breaks.
    const row =
      lines - cells.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0)
    const message = `has ${cells.length} cells but the first line has ${columns.length}`
    rows.push({ row, fields, issues: cells.length === columns.length ? [] : [{ field: 'cells', message }] })
  }
  try {
    parse(text, {
      delimiter: findDelimiter(text),
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      on_record: (cells, { lines }) => {
        add(cells, lines)
        return null
      },
    })
    return rows
  } catch (error) {
    const { code, lines } = error as CsvError & { lines?: number }
    const what = words[code]
    if (error instanceof SvcError || what === undefined) throw error
    const at = code === 'CSV_QUOTE_NOT_CLOSED' ? last + 1 : (lines ?? last + 1)
    throw usageError(`${source}, row ${at}: ${what}`)
  }
}

/** A JSON array of objects or, for geofences, a GeoJSON FeatureCollection. */
const readJson = (text: string, kind: Kind, source: string): RawRow[] => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw usageError(`${source} is not valid JSON: ${(error as Error).message.slice(0, 120)}`)
  }
  if (kind.places && isFeatureCollection(value)) return readFeatures(value, kind)
  if (Array.isArray(value)) return value.map((one, i) => readRow(one, i + 1, kind))
  throw usageError(
    `${source} must contain a JSON array of ${kind.many}${kind.places ? ' or a GeoJSON FeatureCollection' : ''}`,
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

/** Checks the value of --format. */
export const checkFormat = (format: string | undefined, { places }: Kind): FileFormat | undefined => {
  const known = fileFormats.filter((one) => one !== 'geojson' || places)
  if (format === undefined || known.includes(format as FileFormat)) return format as FileFormat | undefined
  throw usageError(`--format must be ${known.join(', ')}, not "${format}"`)
}

export const formatOfName = (file: string): FileFormat | undefined => extensions[extname(file).toLowerCase()]

/** `[` starts JSON, `{` NDJSON or a FeatureCollection, and anything else CSV. */
const formatOfText = (text: string, kind: Kind): FileFormat => {
  const first = /\S/.exec(text)?.[0]
  if (first === '[') return 'json'
  if (first === '{') return kind.places && isFeatureCollection(parseJson(text)) ? 'geojson' : 'ndjson'
  return 'csv'
}

export const sourceName = (file: string): string =>
  file === '-' ? 'standard input' : safeLine(basename(file))

/** Reads the rows of a file or of standard input, unchecked, and the SHA-256. Throws a usage error. */
export const readRows = async (
  file: string,
  typed: FileFormat | undefined,
  kind: Kind,
  io: Io,
): Promise<{ rows: RawRow[]; sha256: string }> => {
  const bytes = await readInput(file, io, { split: 'Split it and import the parts one by one' })
  const source = sourceName(file)
  const text = textOf(bytes, source)
  const format = typed ?? (file === '-' ? undefined : formatOfName(file)) ?? formatOfText(text, kind)
  if (format === 'geojson' && !kind.places) throw usageError(`GeoJSON is for geofences, not for ${kind.many}`)
  const read = { csv: readCsv, ndjson: readNdjson, json: readJson, geojson: readJson }[format]
  return { rows: read(text, kind, source), sha256: sha256(bytes) }
}
