import { seenText } from '../../core/safe-text.ts'

// A spreadsheet runs a cell that starts with one of these as a formula. An apostrophe in front makes it text. Numbers are
// left alone, because they run nothing: a phone in E.164 starts with + and a latitude with -, and programs read them.

const number = /^[+-]?\d{1,20}(?:\.\d{1,20})?$/
const running = /^'*[=+\-@\t\r]/
const escaped = /^'+[=+\-@\t\r]/

/** A cell that no spreadsheet runs, in which nothing invisible stands raw. */
export const writeCell = (text: string): string => {
  const cell = seenText(text.replaceAll('\\u{', '\\u{5c}u{'))
  return running.test(cell) && !number.test(cell) ? `'${cell}` : cell
}

/** What `writeCell` was given. */
export const readCell = (cell: string): string =>
  (cell.startsWith("'") && escaped.test(cell) ? cell.slice(1) : cell).replace(
    /\\u\{([0-9a-f]{2,6})\}/g,
    (whole, digits: string) => {
      const point = Number.parseInt(digits, 16)
      return point > 0x10ffff ? whole : String.fromCodePoint(point)
    },
  )
