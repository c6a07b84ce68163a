// The dots of a braille character, by column and row, as its bits.
const bits = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const

/** A drawing in text: dots, eight a character (two wide, four high), and words that lie over them. */
export type Canvas = {
  /** In dots, from the top left; what is outside is left out. */
  dot(x: number, y: number): void
  /** In characters. */
  write(column: number, row: number, text: string, paint?: (text: string) => string): void
  lines(): string[]
}

export const createCanvas = (columns: number, rows: number): Canvas => {
  const dots = Array.from({ length: rows }, () => new Uint8Array(columns))
  const words = new Map<string, string>()
  const cell = (column: number, row: number): string => {
    const dotted = dots[row]![column]!
    return words.get(`${column},${row}`) ?? (dotted === 0 ? ' ' : String.fromCodePoint(0x2800 + dotted))
  }
  return {
    dot: (x, y) => {
      const [column, row] = [Math.floor(x / 2), Math.floor(y / 4)]
      if (column < 0 || row < 0 || column >= columns || row >= rows) return
      dots[row]![column]! |= bits[Math.floor(x) & 1]![Math.floor(y) & 3]!
    },
    write: (column, row, text, paint = (plain) => plain) => {
      for (const [i, char] of [...text].entries()) words.set(`${column + i},${row}`, paint(char))
    },
    lines: () =>
      dots.map((_, row) => Array.from({ length: columns }, (_, column) => cell(column, row)).join('')),
  }
}
