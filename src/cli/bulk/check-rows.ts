import { setImmediate as turn } from 'node:timers/promises'
import { issuesOf } from '../../contract/issues.ts'
import { interrupted, SvcError, type Issue, usageError } from '../../core/errors.ts'
import { createConverter } from './columns.ts'
import type { Fields, Item, Kind, RawRow } from './kind.ts'
import { createTally, grouped } from './progress.ts'

/** Checks rows one by one: returns the item, or what is wrong with the row. */
const createChecker = (kind: Kind) => {
  const { input } = kind.create
  const org = kind.orgField
  const convert = createConverter(kind)
  const seen = new Map<string, number>()

  return ({ row, fields: raw, issues: found }: RawRow): Item | Issue[] => {
    if (found.length > 0) return found
    const { fields, key, issues } = kind.tidy(convert(raw))
    const whole: Fields = { ...fields, [org]: 1 }
    const checked = input.safeParse(whole)
    const known = new Set(issues.map(({ field }) => field.split(/[.[]/)[0]))
    const others = checked.success ? [] : issuesOf(checked.error, input, whole)
    // The kind's own message is better than the schema's. A column that follows from another one is not missing.
    const isCovered = ({ field }: Issue): boolean =>
      known.has(field.split(/[.[]/)[0]) || (field in kind.defaults && fields[field] === undefined)
    const all = [...issues, ...others.filter((issue) => !isCovered(issue))]
    const before = key === undefined ? undefined : seen.get(key)
    if (before !== undefined) all.push({ field: kind.keyColumn, message: `is the same as in row ${before}` })
    if (key !== undefined && before === undefined) seen.set(key, row)
    if (all.length > 0) return all
    const { [org]: _, ...body } = checked.data as Fields
    return { row, key: key!, input: body }
  }
}

/** A row that cannot be sent, and why. */
export type Invalid = { row: number; issues: Issue[] }

export type Checked = {
  items: Item[]
  invalid: Invalid[]
  /** The error for people, with the first issues of each kind. */
  problem?: SvcError
}

const problemOf = (invalid: readonly Invalid[], source: string): SvcError => {
  const tally = createTally<Issue & { row: number }>(({ field, message }) => `${field} ${message}`)
  for (const { row, issues } of invalid) for (const issue of issues) tally.add({ ...issue, row })
  const { shown, left } = tally.report()
  const { count } = tally
  return new SvcError(
    'usage',
    'invalid_rows',
    `${source}: ${count === 1 ? '1 error' : `${grouped(count)} errors`}; nothing was sent`,
    {
      issues: shown.map(({ item, more }) => ({
        field: `row ${item.row}, ${item.field}`,
        message: item.message + more,
      })),
      detail: left > 0 ? `and ${grouped(left)} more` : undefined,
    },
  )
}

/** Checks all rows. */
export const checkRows = async (
  rows: RawRow[],
  kind: Kind,
  source: string,
  signal: AbortSignal,
): Promise<Checked> => {
  if (rows.length === 0) throw usageError(`${source} contains no ${kind.many}`)
  const check = createChecker(kind)
  const items: Item[] = []
  const invalid: Invalid[] = []
  for (const [i, row] of rows.entries()) {
    // Ctrl-C ends a long check.
    if (i % 2000 === 1999) await turn()
    if (signal.aborted) throw interrupted()
    const checked = check(row)
    if (Array.isArray(checked)) invalid.push({ row: row.row, issues: checked })
    else items.push(checked)
  }
  return invalid.length === 0 ? { items, invalid } : { items, invalid, problem: problemOf(invalid, source) }
}
