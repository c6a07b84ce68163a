export type Figure = {
  what: string
  /** Undefined if it could not be measured, which does not pass. */
  figure: number | undefined
  unit: '' | ' ms' | ' KB' | ' MiB' | ' points' | ' flaws'
  must: number
  beyond: number
  /** Whether a higher figure is better. */
  more: boolean
}

/** A figure, and the share of one core that other programs used meanwhile. */
export type Measured = Figure & { others: number }

// The load generator and the service use two cores, so other programs slow down both.
const idleBelow = 0.1

export const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

const reaches = ({ figure, more }: Figure, limit: number): boolean =>
  figure !== undefined && (more ? figure >= limit : figure <= limit)

export const passes = (figure: Figure): boolean => reaches(figure, figure.must)

const verdict = (figure: Figure): string => {
  if (figure.figure === undefined) return 'not measured'
  if (!passes(figure)) return 'FAILS'
  return reaches(figure, figure.beyond) ? 'beyond' : 'passes'
}

const decimals = { '': 2, ' KB': 1, ' MiB': 0, ' ms': 0, ' points': 0, ' flaws': 0 }

const percent = (share: number): string => `${Math.round(share * 100)} %`

const limit = ({ more, unit }: Figure, value: number): string => `${more ? '>=' : '<='} ${value}${unit}`

/** The table as text: what, figure, must, beyond, verdict, and what other programs used meanwhile. */
export const tableOf = (figures: Measured[]): string => {
  const rows = [
    ['what', 'figure', 'must', 'beyond', 'verdict', 'others'],
    ...figures.map((one) => [
      one.what,
      one.figure === undefined ? '–' : `${one.figure.toFixed(decimals[one.unit])}${one.unit}`,
      limit(one, one.must),
      limit(one, one.beyond),
      verdict(one),
      percent(one.others),
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

/** A sentence that says whether the machine was otherwise idle. */
export const idleness = (figures: Measured[]): string => {
  const busy = figures.filter(({ others }) => others >= idleBelow)
  const rule = `other programs, or the host of this machine, used less than ${percent(idleBelow)} of one core`
  if (busy.length === 0) return `The machine was idle: during each row ${rule}.`
  const most = percent(Math.max(...busy.map(({ others }) => others)))
  return `The machine was NOT idle during ${busy.length} of ${figures.length} rows: other programs, or the host, used up to ${most} of one core. Run this again when nothing else runs.`
}
