import { isWithdrawn, withdrawnMark } from '../contract/approval-state.ts'
import { answeredFields } from '../contract/describe.ts'
import type { Operation } from '../contract/operation.ts'
import { SvcError, unexpectedAnswer } from '../core/errors.ts'
import { isRecord } from '../core/is-record.ts'
import { samePhone, wholeNumber } from '../core/phone-parts.ts'

// A service may ignore a filter that it does not know, and return everything. Scripts feed ids from lists to deletes.

type Fields = Record<string, unknown>
/** Whether a record matches a value of the request; undefined if the record does not show it. */
type Match = (wanted: string, row: Fields) => boolean | undefined

const isNumeric = (text: string): boolean => /^\d+$/.test(text)

const same =
  (name: string): Match =>
  (wanted, row) => {
    const shown = row[name]
    if (typeof shown !== 'string' && typeof shown !== 'number') return undefined
    // An id of another form names the same thing in another way.
    if (/id$/i.test(name) && isNumeric(wanted) !== isNumeric(String(shown))) return undefined
    return wanted.toLowerCase() === String(shown).toLowerCase()
  }

const inTime =
  (isInside: (wanted: number, shown: number) => boolean): Match =>
  (wanted, row) => {
    const [limit, shown] = [wanted, String(row.at ?? row.requested_at ?? row.created_at)].map(Date.parse)
    return Number.isNaN(limit!) || Number.isNaN(shown!) ? undefined : isInside(limit!, shown!)
  }

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const rowsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : [])

/** The last four digits of everybody whom a request asks: it hides the rest. */
const endsOf = ({ lines }: Fields): string[] =>
  rowsOf(lines).flatMap(({ people }) =>
    rowsOf(people).flatMap(({ mobile }) => /\d{4}$/.exec(text(mobile) ?? '') ?? []),
  )

const matches: Readonly<Record<string, Match>> = {
  mobile: (wanted, row) => samePhone(wanted, wholeNumber(row)),
  // Of several people, a request shows the whole number of the first one only.
  approver_mobile: (wanted, row) => {
    const ends = endsOf(row)
    return ends.length > 1
      ? ends.some((end) => wanted.endsWith(end))
      : samePhone(wanted, text(row.approver_mobile))
  },
  status: (wanted, row) => (wanted === withdrawnMark ? isWithdrawn(row) : same('status')(wanted, row)),
  // Typed with or without separators. The last digits are a check digit or a version.
  imei: (wanted, { imei }) => {
    const [typed, shown] = [wanted, imei].map((one) => String(one).replace(/\D/g, '').slice(0, 14))
    return shown!.length < 14 ? undefined : typed === shown
  },
  since: inTime((since, at) => at >= since),
  until: inTime((until, at) => at <= until),
  // The name of a key is shown with its id, and that of a terminal is not shown.
  actor: (wanted, { actor }) => {
    if (typeof actor !== 'string') return undefined
    if (actor === wanted || actor.startsWith(`${wanted} (`)) return true
    return actor.startsWith('user:') && !wanted.startsWith('user:') ? undefined : false
  },
}

/** What is compared besides these: `org_id`, and whatever has the same name in the answer. */
const matchFor = (name: string, answered: readonly string[]): Match | undefined => {
  if (Object.hasOwn(matches, name)) return matches[name]
  if (answered.includes(name)) return same(name)
  if (name === 'orgId') return same('org_id')
  // The record of a user has its id as `id`.
  return /^user_?id$/i.test(name) && answered.includes('mobile') ? same('id') : undefined
}

const namesOnePerson = new Set(['mobile', 'email'])

const ignored = (field: string): SvcError => {
  if (field === 'request_id')
    return unexpectedAnswer('The service returned another request', {
      detail: 'The decision is unknown. This is not an approval.',
      hint: 'svc profile show --explain shows the address in use',
    })
  const message = 'was ignored by the service: its answer is about something else'
  return new SvcError('failed', 'filter_ignored', `${field} ${message}`, {
    issues: [{ field, message }],
    hint: 'Check the address: svc profile show --explain',
  })
}

const recordsIn = (data: unknown): Fields[] => rowsOf(Array.isArray(data) ? data : [data])

/** Throws if the answer to a read shows another value than its request asked for, in any of its records. */
export const requireFiltered = (operation: Operation, input: Fields, data: unknown): void => {
  const records = recordsIn(data)
  if (records.length === 0) return
  const answered = answeredFields(operation)
  for (const [name, wanted] of Object.entries(input)) {
    if (typeof wanted !== 'string' && typeof wanted !== 'number') continue
    const match = matchFor(name, answered)
    const results = match ? records.map((row) => match(String(wanted), row)) : []
    const hides = records.length > 1 && namesOnePerson.has(name) && results.includes(undefined)
    if (hides || results.includes(false)) throw ignored(name)
  }
  const { type } = input
  const types = records.flatMap(({ events }) => recordsIn(events).map((row) => `${String(row.type)}.`))
  if (typeof type === 'string' && types.some((one) => !one.startsWith(`${type}.`))) throw ignored('type')
}
