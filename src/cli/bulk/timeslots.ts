import { fieldsOf } from '../../contract/describe.ts'
import { timeslot } from '../../contract/timeslot.ts'
import type { Issue } from '../../core/errors.ts'
import { openByName } from './by-name.ts'
import type { Fields, Kind } from './kind.ts'

const weekdays = fieldsOf(timeslot.addTimeslot).find(({ name }) => name === 'days')!.choices
const at = (day: string): number => weekdays.indexOf(day.slice(0, 3))

/** `mon-fri`, `fri-mon`: the days from the first to the last, around the end of the week if need be. */
const span = (word: string): string[] => {
  const [, from, to] = /^([a-z]{3,9})-([a-z]{3,9})$/.exec(word) ?? []
  const [first, last] = [at(from ?? ''), at(to ?? '')]
  if (from === undefined || first < 0 || last < 0) return [at(word) < 0 ? word : weekdays[at(word)]!]
  const count = ((last - first + 7) % 7) + 1
  return Array.from({ length: count }, (_, i) => weekdays[(first + i) % 7]!)
}

/** In the order of the week, each once, as the service keeps them. What is no day stays and fails its check. */
const daysOf = (days: unknown): unknown => {
  if (!Array.isArray(days)) return days
  const all = days.flatMap((day) => (typeof day === 'string' ? span(day.toLowerCase()) : [day]))
  return [...new Set(all)].toSorted((a, b) => at(String(a)) - at(String(b)))
}

const zones = new Map<string, boolean>()
/** Some engines take offsets such as +01:00 for zones; an offset knows no daylight saving. */
const isZone = (name: string): boolean => {
  let known = zones.get(name)
  if (known === undefined) {
    try {
      known = !/^[+-]/.test(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
    } catch {
      known = false
    }
    zones.set(name, known)
  }
  return known
}

const tidy: Kind['tidy'] = (given) => {
  const fields: Fields = 'days' in given ? { ...given, days: daysOf(given['days']) } : given
  const issues: Issue[] = []
  const { name, start, end, timezone } = fields
  if (typeof timezone === 'string' && !isZone(timezone.trim()))
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
