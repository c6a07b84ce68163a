import { setImmediate as turn } from 'node:timers/promises'
import { issuesOf } from '../../contract/issues.ts'
import { user } from '../../contract/user.ts'
import { interrupted, SvcError, type Issue, usageError } from '../../core/errors.ts'
import { readPhone } from '../../factors/phone.ts'
import { grouped } from './progress.ts'
import type { Fields, RawRow } from './read-file.ts'

/** A checked row: its request body, and the number that identifies it. */
export type Item = { row: number; mobile: string; input: Fields }

export const mostErrors = 20

/** Repairs a dialing prefix that a spreadsheet changed to `49` or `0049`. */
const withPlus = (code: string): string => code.trim().replace(/^(?:00)?(?=[1-9]\d{0,3}$)/, '+')

const rounded = /^\d(?:[.,]\d{1,20})?E\+?\d{1,2}$/i

/** The fields as text; empty ones count as missing. */
const filled = (raw: Fields): Fields => {
  const there = Object.entries(raw).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  return Object.fromEntries(
    there.map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  )
}

/** Reads the number of a row, whichever way it is written. */
const readNumber = (fields: Fields): { fields: Fields; issues: Issue[] } => {
  const { mobile, country_code: typed } = fields
  const code = typeof typed === 'string' ? withPlus(typed) : undefined
  if (typeof mobile !== 'string') return { fields, issues: [] }
  if (rounded.test(mobile))
    return {
      fields,
      issues: [{ field: 'mobile', message: 'was rounded by a spreadsheet; keep this column as text' }],
    }
  const read = readPhone(mobile, code)
  if ('wrong' in read) return { fields, issues: [{ field: read.wrong, message: read.message }] }
  return { fields: { ...fields, ...read }, issues: [] }
}

/** Checks rows one by one: returns the item, or what is wrong with the row. */
const createChecker = () => {
  const { input } = user.createUser
  const seen = new Map<string, number>()

  return ({ row, fields: raw, issues: found }: RawRow): Item | Issue[] => {
    if (found.length > 0) return found
    const { fields, issues } = readNumber(filled(raw))
    const whole: Fields = { ...fields, orgId: 1 }
    const checked = input.safeParse(whole)
    const known = new Set(issues.map(({ field }) => field))
    // The message about the number is better than the schema's. A dialing prefix follows from the number.
    const isCovered = ({ field }: Issue): boolean =>
      known.has(field) || (field === 'country_code' && fields['country_code'] === undefined)
    const others = checked.success ? [] : issuesOf(checked.error, input, whole)
    const all = [...issues, ...others.filter((issue) => !isCovered(issue))]
    const mobile = issues.length === 0 ? fields['mobile'] : undefined
    if (typeof mobile === 'string') {
      const before = seen.get(mobile)
      if (before === undefined) seen.set(mobile, row)
      else all.push({ field: 'mobile', message: `is the same as in row ${before}` })
    }
    if (all.length > 0) return all
    const { orgId: _, ...body } = checked.data as Fields
    return { row, mobile: mobile as string, input: body }
  }
}

/** Checks all rows. Throws one usage error with the first mistakes. */
export const checkRows = async (rows: RawRow[], source: string, signal: AbortSignal): Promise<Item[]> => {
  if (rows.length === 0) throw usageError(`${source} contains no users`)
  const check = createChecker()
  const items: Item[] = []
  const issues: Issue[] = []
  for (const [i, row] of rows.entries()) {
    // Ctrl-C ends a long check.
    if (i % 2000 === 1999) await turn()
    if (signal.aborted) throw interrupted()
    const checked = check(row)
    if (!Array.isArray(checked)) items.push(checked)
    else for (const { field, message } of checked) issues.push({ field: `row ${row.row}, ${field}`, message })
  }
  const count = issues.length
  if (count === 0) return items
  const errors = count === 1 ? '1 error' : `${grouped(count)} errors`
  throw new SvcError('usage', 'invalid_rows', `${source}: ${errors}; nothing was sent`, {
    issues: issues.slice(0, mostErrors),
    detail: count > mostErrors ? `and ${grouped(count - mostErrors)} more` : undefined,
  })
}
