import { timeslot } from '../../contract/timeslot.ts'
import type { Issue } from '../../core/errors.ts'
import { isZone } from '../../rules/instant.ts'
import { expandDays, strangeDay } from '../operation/typed-time.ts'
import { openByName } from './by-name.ts'
import type { Fields, Kind } from './kind.ts'

const zones = new Map<string, boolean>()
/** As `isZone`; of so many rows, each zone is looked for once. */
const isKnownZone = (name: string): boolean => {
  const known = zones.get(name) ?? isZone(name)
  zones.set(name, known)
  return known
}

const tidy: Kind['tidy'] = (given) => {
  const fields: Fields = 'days' in given ? { ...given, days: expandDays(given['days']) } : given
  const issues: Issue[] = []
  const strange = strangeDay(fields['days'])
  if (strange !== undefined)
    issues.push({
      field: 'days',
      message: `holds ${JSON.stringify(strange)?.slice(0, 40)}, which is not a day: write mon-fri, mon,wed or daily`,
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
