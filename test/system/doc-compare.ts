import type { Shown } from './doc-play.ts'
import type { Step } from './doc-page.ts'

// Compares the output of a command with its page. `…` matches any text; alone on a line, any number of lines.

/** Values that differ on each run, each replaced by a name. */
const settled = (line: string): string =>
  line
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replaceAll(/\b(apr|ver|msg|req)_[\w-]{8,}/g, '$1_<id>')
    .replaceAll(
      /\b(svc_(?:op|org))_[0-9a-f]{8}(_[\w-]+)?/g,
      (_, kind, rest) => `${kind}_<key>${rest ? '_<rest>' : ''}`,
    )
    .replaceAll(/\b[\w-]{40,}(?:\.[\w-]{20,})*\b/g, '<token>')
    .replaceAll(/\b\d+(?:\.\d+)? (ms|s)\b/g, '<n> $1')
    .replaceAll(/\b\d+:\d\d left\b/g, '<n> left')
    .trimEnd()

/** Expands tabs as a terminal does. */
const untabbed = (line: string): string =>
  line.replaceAll(/([^\t]*)\t/g, (_, before: string) => before + ' '.repeat(8 - (before.length % 8)))

const matches = (shown: string, said: string): boolean => {
  const expected = untabbed(said)
  const parts = expected.split('…').map(settled)
  if (parts.length === 1) return settled(shown) === parts[0]
  let rest = settled(shown)
  for (const [i, part] of parts.entries()) {
    const at = i === parts.length - 1 ? rest.length - part.length : rest.indexOf(part)
    if (at < 0 || (i === 0 && at > 0) || !rest.startsWith(part, at)) return false
    rest = rest.slice(at + part.length)
  }
  return true
}

type Same = (shown: string, expected: string) => boolean

/** A line with the one below it, if svc may have broken a message there between words; `shortest` is what it leaves. */
const joined = (line: string, below: string | undefined, shortest: number): string | undefined =>
  below !== undefined && line.length >= shortest ? `${line} ${below.trim()}` : undefined

const linesAgree = (
  shown: readonly string[],
  expected: readonly string[],
  { same, shortest }: { same: Same; shortest: number },
): boolean => {
  const at = (i: number, j: number): boolean => {
    if (j === expected.length) return i === shown.length
    if (expected[j]!.trim() === '…') return at(i, j + 1) || (i < shown.length && at(i + 1, j))
    for (let end = i + 1, line = shown[i]; line !== undefined; line = joined(line, shown[end++], shortest))
      if (same(line, expected[j]!) && at(end, j + 1)) return true
    return false
  }
  return at(0, 0)
}

/** Compares exactly, on a terminal as wide as the pages are written for. A path makes a message longer here than on the page. */
export const agrees = (shown: readonly string[], expected: readonly string[]): boolean =>
  linesAgree(shown, expected, { same: matches, shortest: 50 })

/** A truncated time, whose rest is unknown. */
const uncut = (cell: string): string => settled(cell).replaceAll(/\b\d{4}-[\d\-T:.]*…/g, '…')

/** Cells of which either may be truncated: they match if the visible parts are equal. */
const cellsAgree: Same = (shown, expected) => {
  if (matches(shown, expected)) return true
  const [left, right] = [uncut(shown), uncut(expected)].map((text) => text.split('…')[0]!)
  const length = Math.min(left!.length, right!.length)
  const isCut = uncut(shown).includes('…') || uncut(expected).includes('…')
  return isCut && left!.slice(0, length) === right!.slice(0, length)
}

const cellsOf = (line: string): string[] => line.trim().split(/ {2,}/)

const rowsAgree: Same = (shown, expected) => {
  const [cells, wanted] = [cellsOf(shown), cellsOf(expected)]
  return cells.length === wanted.length && cells.every((cell, i) => cellsAgree(cell, wanted[i]!))
}

const words = (lines: readonly string[]): string => lines.join(' ').replaceAll(/\s+/g, ' ').trim()

const isHead = (cells: readonly string[]): boolean =>
  cells.length > 1 && cells.every((cell) => /^[A-Z][A-Z0-9_]*…?$/.test(cell))

/** The places in `head` of the columns of a narrower table, which begins with the same one; undefined if it is another table. */
const placesOf = (narrow: readonly string[], head: readonly string[]): number[] | undefined => {
  let from = 0
  const places = narrow.map((name) => {
    const at = head.findIndex((one, i) => i >= from && cellsAgree(name, one))
    from = at < 0 ? head.length : at + 1
    return at
  })
  return places[0] === 0 && !places.includes(-1) ? places : undefined
}

/** The lines without the columns of a table that a narrower terminal has left out. */
const withoutLeftOut = (lines: readonly string[], narrow: readonly string[]): string[] => {
  const heads = narrow.map(cellsOf).filter(isHead)
  let table: { width: number; places: number[] } | undefined
  return lines.map((line) => {
    const cells = cellsOf(line)
    if (isHead(cells)) {
      const places = heads.map((head) => placesOf(head, cells)).find((found) => found !== undefined)
      table = places && { width: cells.length, places }
    } else if (cells.length !== table?.width) table = undefined
    return table ? table.places.map((at) => cells[at]!).join('  ') : line
  })
}

/** What a table says of the columns that it has left out, on one line or more. */
const unnoted = (lines: readonly string[]): string[] =>
  lines
    .join('\n')
    .replaceAll(/(?:^|\n)Left out: [^.]+\.\s-o\s+json\s+shows\s+everything(?=\n|$)/g, '')
    .split('\n')

/** Compares on a terminal of another width, where tables have other columns, gaps and cuts, and texts have other line ends. */
export const agreesLoosely = (noted: readonly string[], said: readonly string[]): boolean => {
  const [shown, expected] = [unnoted(noted), unnoted(said)]
  const [narrow, wide] = [withoutLeftOut(shown, expected), withoutLeftOut(expected, shown)]
  return linesAgree(narrow, wide, { same: rowsAgree, shortest: 30 }) || matches(words(shown), words(expected))
}

const trimmed = (lines: readonly string[]): string[] => lines.join('\n').trim().split('\n')

export type Disagreement = { line: number; command: string; expected: string[]; shown: string[] }

/** Where the page and the output differ. */
export const disagreements = (
  steps: readonly Step[],
  shown: readonly Shown[],
  agree: typeof agrees,
): Disagreement[] =>
  steps.flatMap(({ line, command, hidden, expected, later }, i) => {
    if (hidden) return []
    const { lines, meanwhile } = shown[i] ?? { lines: ['(nothing: the page ended before)'] }
    const looks: [readonly string[], readonly string[]][] = later
      ? [
          [meanwhile ?? [], expected],
          [lines, ['…', ...trimmed(later)]],
        ]
      : [[meanwhile ?? lines, expected]]
    return looks.flatMap(([seen, said]) => {
      const [all, wanted] = [trimmed(seen), trimmed(said)]
      return agree(all, wanted) ? [] : [{ line, command, expected: wanted, shown: all }]
    })
  })
