import { parse, type CsvError } from 'csv-parse/sync'
import { SvcError, usageError } from '../../core/errors.ts'
import { readCell } from '../terminal/render.ts'
import { columnOf, requiredColumns, unknownColumn } from './columns.ts'
import type { Fields, Kind, RawRow } from './kind.ts'

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
export const readCsv = (text: string, kind: Kind, source: string): RawRow[] => {
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
