import { fieldsOf } from '../../contract/describe.ts'
import { timeslot } from '../../contract/timeslot.ts'
import type { Issue } from '../../core/errors.ts'
import { isZone } from '../../rules/zone.ts'
import { openByName } from './by-name.ts'
import type { Fields, Kind } from './kind.ts'

const weekdays = fieldsOf(timeslot.addTimeslot).find(({ name }) => name === 'days')!.choices
const wholeNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** Where a day stands in the week; `mon` and `monday` are one. -1 for what is no day. */
const at = (day: unknown): number =>
  typeof day === 'string' && day.length >= 3
    ? wholeNames.findIndex((name) => name.startsWith(day.toLowerCase()))
    : -1

/** `mon-fri`, `fri-mon`: the days from the first to the last, around the end of the week if need be. */
const span = (word: unknown): unknown[] => {
  const [, from, to] = /^([a-z]{3,9})-([a-z]{3,9})$/i.exec(String(word)) ?? []
  const [first, last] = from === undefined ? [at(word), at(word)] : [at(from), at(to)]
  if (first < 0 || last < 0) return [word]
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => weekdays[(first + i) % 7]!)
}

/** In the order of the week, each once, as the service keeps them. */
const daysOf = (days: unknown): unknown =>
  Array.isArray(days) ? [...new Set(days.flatMap(span))].toSorted((a, b) => at(a) - at(b)) : days

const zones = new Map<string, boolean>()
/** As `isZone`; of so many rows, each zone is looked for once. */
const isKnownZone = (name: string): boolean => {
  const known = zones.get(name) ?? isZone(name)
  zones.set(name, known)
  return known
}

const tidy: Kind['tidy'] = (given) => {
  const fields: Fields = 'days' in given ? { ...given, days: daysOf(given['days']) } : given
  const issues: Issue[] = []
  const strange = Array.isArray(fields['days']) ? fields['days'].find((day) => at(day) < 0) : undefined
  if (strange !== undefined)
    issues.push({
      field: 'days',
      message: `holds ${JSON.stringify(strange)?.slice(0, 40)}, which is no day: ${weekdays.join(', ')}`,
    })
  const { name, start, end, timezone } = fields
  if (typeof timezone === 'string' && !isKnownZone(timezone.trim()))
    issues.push({ field: 'timezone', message: 'must be an IANA time zone such as Europe/Berlin or UTC' })
  if (start !== undefined && start === end)
    issues.push({
      field: 'end',
      message: 'must differ from start; a whole day is two slots, 00:00 to 12:00 and 12:00 to 00:00',
    })
  return { fields, key: typeof name === 'string' ? name.trim() : undefined, issues }
}

export const timeslots: Kind = {
  group: 'timeslot',
  file: 'slots',
  one: 'time slot',
  many: 'time slots',
  create: timeslot.addTimeslot,
  orgField: 'org_id',
  columns: ['name', 'days', 'start', 'end', 'timezone', 'is_active'],
  aliases: {
    day: 'days',
    weekdays: 'days',
    from: 'start',
    to: 'end',
    tz: 'timezone',
    zone: 'timezone',
    active: 'is_active',
  },
  defaults: { is_active: 1 },
  keyColumn: 'name',
  tidy,
  open: openByName({
    one: 'time slot',
    list: timeslot.listTimeslots,
    create: timeslot.addTimeslot,
    update: timeslot.updateTimeslot,
    target: (_, timeslot_id) => ({ timeslot_id }),
  }),
  list: timeslot.listTimeslots,
  listed: {},
}
