// A spreadsheet runs a cell that starts with one of these as a formula. An apostrophe in front makes it text. Numbers are
// left alone, because they run nothing: a phone in E.164 starts with + and a latitude with -, and programs read them.

const number = /^[+-]?\d{1,20}(?:\.\d{1,20})?$/
const running = /^'*[=+\-@\t\r]/
const escaped = /^'+[=+\-@\t\r]/

/** A cell that no spreadsheet runs. */
export const escapeFormula = (cell: string): string =>
  running.test(cell) && !number.test(cell) ? `'${cell}` : cell

/** What `escapeFormula` was given. */
export const unescapeFormula = (cell: string): string =>
  cell.startsWith("'") && escaped.test(cell) ? cell.slice(1) : cell
