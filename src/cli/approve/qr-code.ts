import { encode } from 'uqr'

/** Modules of nothing around the code: a scanner looks for them. */
const quiet = 4
// Fixed colours of the 256, and not of the theme: a code is dark on light, be the terminal dark or light.
const dark = 16
const light = 231

/** A QR code for a terminal, two modules a line of text, and its width in columns. Without colours the terminal must be dark. */
export const qrCode = (text: string, colour: boolean): { code: string; width: number } => {
  const { data, size } = encode(text, { border: quiet, ecc: 'L' })
  const isLight = (row: number, column: number): boolean => !data[row]?.[column]
  const rows = Array.from({ length: Math.ceil(size / 2) }, (_, line) =>
    Array.from({ length: size }, (_, column) => {
      const [upper, lower] = [isLight(line * 2, column), isLight(line * 2 + 1, column)]
      return upper ? (lower ? '█' : '▀') : lower ? '▄' : ' '
    }).join(''),
  )
  const paint = (row: string): string => (colour ? `\u001B[38;5;${light};48;5;${dark}m${row}\u001B[0m` : row)
  return { code: rows.map((row) => `${paint(row)}\n`).join(''), width: size }
}
