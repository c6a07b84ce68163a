import { SvcError } from '../../core/errors.ts'
import { safeJson, safeLine, safeText, seenText } from '../../core/safe-text.ts'
import { isRecord } from '../../core/is-record.ts'
import { gridOf, idOf, type Shape } from './payload.ts'
import type { Format } from './output.ts'

// A spreadsheet runs a cell that starts with one of these characters as a formula. A leading apostrophe makes it text.
// Numbers are safe and stay unchanged for programs: a phone number starts with + and a latitude can start with -.

const number = /^[+-]?\d{1,20}(?:\.\d{1,20})?$/
const running = /^'*[=+\-@\t\r]/
const escaped = /^'+[=+\-@\t\r]/

/** A cell that no spreadsheet runs as a formula, with invisible characters escaped. */
export const writeCell = (text: string): string => {
  const cell = seenText(text.replaceAll('\\u{', '\\u{5c}u{'))
  return running.test(cell) && !number.test(cell) ? `'${cell}` : cell
}

/** Reverses `writeCell`. */
export const readCell = (cell: string): string =>
  (cell.startsWith("'") && escaped.test(cell) ? cell.slice(1) : cell).replace(
    /\\u\{([0-9a-f]{2,6})\}/g,
    (whole, digits: string) => {
      const point = Number.parseInt(digits, 16)
      return point > 0x10ffff ? whole : String.fromCodePoint(point)
    },
  )

/** A raw tab or newline would start another cell or line. Backslashes keep the escapes reversible. */
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const tsvCell = (text: string): string => seenText(text.replace(/[\\\t\n\r]/g, (char) => escapes[char]!))

const ids = (payload: unknown): string[] =>
  (Array.isArray(payload) ? payload : [payload]).map((row: unknown) => {
    const name = isRecord(row) && idOf(Object.keys(row))
    const id = isRecord(row) && name ? row[name] : undefined
    if (typeof id === 'number' || (typeof id === 'string' && id !== '')) return safeLine(String(id))
    throw new SvcError('failed', 'no_id', 'The answer has no id to print', { hint: 'Use -o json' })
  })

const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')

const toCsv = async (payload: unknown, shape: Shape): Promise<string> => {
  const { stringify } = await import('csv-stringify/sync')
  const list = Array.isArray(payload) ? payload : [payload]
  const { known = shape.columns } = shape
  if (list.length === 0) return known ? stringify([[...known]]) : ''
  const { head, lines } = gridOf(list, shape, true)
  const rows = head && head.length > 0 ? [head, ...lines] : lines
  return stringify(rows.map((row) => row.map(writeCell)))
}

/** The payload as text in each format but the table. Escapes invisible characters and, on a terminal, joiners. */
export const render = async (
  payload: unknown,
  shape: Shape,
  format: Exclude<Format, 'table'>,
  onTerminal: boolean,
): Promise<string> => {
  const safe = onTerminal ? safeText : (text: string) => text
  switch (format) {
    case 'json':
      return `${safeJson(payload, 2)}\n`
    case 'ndjson':
      return lines((Array.isArray(payload) ? payload : [payload]).map((row) => safeJson(row)))
    case 'id':
      return lines(ids(payload))
    case 'yaml':
      return safe((await import('./yaml-text.ts')).yamlText(payload))
    case 'csv':
      return safe(await toCsv(payload, shape))
    case 'tsv':
      return lines(gridOf(payload, shape).lines.map((line) => safe(line.map(tsvCell).join('\t'))))
  }
}
