export type Figure = {
  what: string
  figure: number
  unit: '' | ' ms'
  must: number
  beyond: number
  /** Whether more is better. */
  more: boolean
}

export const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

const reaches = ({ figure, more }: Figure, limit: number): boolean =>
  more ? figure >= limit : figure <= limit

export const passes = (figure: Figure): boolean => reaches(figure, figure.must)

const verdict = (figure: Figure): string => {
  if (!passes(figure)) return 'FAILS'
  return reaches(figure, figure.beyond) ? 'beyond' : 'passes'
}

/** The table as text: what, figure, must, beyond, verdict. */
export const tableOf = (figures: Figure[]): string => {
  const limit = ({ more, unit }: Figure, value: number): string => `${more ? '>=' : '<='} ${value}${unit}`
  const rows = [
    ['what', 'figure', 'must', 'beyond', 'verdict'],
    ...figures.map((one) => [
      one.what,
      `${one.unit === '' ? one.figure.toFixed(2) : Math.round(one.figure)}${one.unit}`,
      limit(one, one.must),
      limit(one, one.beyond),
      verdict(one),
    ]),
  ]
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
