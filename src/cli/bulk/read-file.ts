import { basename, extname } from 'node:path'
import { usageError } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Io } from '../terminal/io.ts'
import { readCsv } from './csv.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import { isFeatureCollection, readJson, readNdjson } from './json-rows.ts'
import { fileFormats, type FileFormat, type Kind, type RawRow } from './kind.ts'

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
