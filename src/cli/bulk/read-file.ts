import { basename } from 'node:path'
import { parse, type CsvError } from 'csv-parse/sync'
import { SvcError, usageError, type Issue } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Io } from '../terminal/io.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import { readCell } from '../terminal/render.ts'
import { columnOf, columns, requiredColumns } from './columns.ts'

export type Fields = Record<string, unknown>

/** A row of a file. `row` is its line, as in a spreadsheet. */
export type RawRow = { row: number; fields: Fields; issues: Issue[] }

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

const readHeader = (header: string[], source: string): string[] => {
  const named = header.map((name) => columnOf(readCell(name)))
  const unknown = named.filter((name) => !columns.includes(name))
  if (unknown.length > 0)
    throw new SvcError('usage', 'unknown_column', `${source} has unknown columns`, {
      issues: unknown.slice(0, 20).map((name) => ({
        field: name.slice(0, 80) || 'a column without a name',
        message: 'is not a column',
      })),
      hint: `The first line names the columns: ${columns.join(',')}`,
    })
  const twice = named.find((name, i) => named.indexOf(name) !== i)
  if (twice) throw usageError(`${source} has two columns for ${twice}`)
  const missing = requiredColumns.filter((name) => !named.includes(name))
  if (missing.length > 0)
    throw usageError(
      `${source} has no column ${missing.join(', ')}`,
      `The columns of users are ${columns.join(',')}`,
    )
  return named
}

/** Reads CSV (RFC 4180). The first line names the columns. */
const readCsv = (text: string, source: string): RawRow[] => {
  const rows: RawRow[] = []
  let named: string[] | undefined
  let last = 0
  const add = (cells: string[], lines: number): void => {
    last = lines
    if (!named) {
      named = readHeader(cells, source)
      return
    }
    const fields: Fields = {}
    for (const [i, name] of named.entries()) fields[name] = readCell(cells[i] ?? '')
    // The parser reports the last line of a row, and a cell can contain line breaks.
    const row =
      lines - cells.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0)
    const message = `has ${cells.length} cells but the first line has ${named.length}`
    rows.push({ row, fields, issues: cells.length === named.length ? [] : [{ field: 'cells', message }] })
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

export const sourceName = (file: string): string =>
  file === '-' ? 'standard input' : safeLine(basename(file))

/** Reads the rows of a file or of standard input, unchecked, and the SHA-256. Throws a usage error. */
export const readRows = async (file: string, io: Io): Promise<{ rows: RawRow[]; sha256: string }> => {
  const bytes = await readInput(file, io, { split: 'Split it and import the parts one by one' })
  const source = sourceName(file)
  return { rows: readCsv(textOf(bytes, source), source), sha256: sha256(bytes) }
}
