import { timeslot } from '../../contract/timeslot.ts'
import type { Issue } from '../../core/errors.ts'
import { isZone } from '../../factors/instant.ts'
import { expandDays, findInvalidDay } from '../operation/typed-time.ts'
import { byName } from './by-name.ts'
import type { Fields, Kind } from './kind.ts'

const zones = new Map<string, boolean>()
/** As `isZone`, which is slow for many rows. */
const isKnownZone = (name: string): boolean => {
  const known = zones.get(name) ?? isZone(name)
  zones.set(name, known)
  return known
}

const tidy: Kind['tidy'] = (row) => {
  const fields: Fields = 'days' in row ? { ...row, days: expandDays(row['days']) } : row
  const issues: Issue[] = []
  const invalid = findInvalidDay(fields['days'])
  if (invalid !== undefined)
    issues.push({
      field: 'days',
      message: `contains ${JSON.stringify(invalid)?.slice(0, 40)}, which is not a day: write mon-fri, mon,wed or daily`,
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

export const timeslots = byName({
  group: 'timeslot',
  file: 'slots',
  one: 'time slot',
  many: 'time slots',
  columns: ['name', 'days', 'start', 'end', 'timezone', 'is_active'],
  aliases: {
    days: ['day', 'weekdays'],
    start: ['from'],
    end: ['to'],
    timezone: ['tz', 'zone'],
    is_active: ['active'],
  },
  tidy,
  list: timeslot.listTimeslots,
  create: timeslot.addTimeslot,
  update: timeslot.updateTimeslot,
  target: (_, timeslot_id) => ({ timeslot_id }),
})
