import { fieldsOf } from '../../contract/describe.ts'
import { timeslot } from '../../contract/timeslot.ts'
import { flagsFor } from '../operation/flags.ts'
import { orgFlag } from '../operation/need.ts'
import { defineCommand } from '../program/define-command.ts'

const user = fieldsOf(timeslot.checkTimeslot).find(({ flag }) => flag === 'user')!

const levelFlags = () => ({ ...orgFlag('; not with --user'), ...Object.fromEntries(flagsFor(user)) })

/** `svc geofence map`: the geofences as an HTML page. */
export const registerMap = defineCommand({
  name: 'map',
  summary: 'Draw the geofences on a map, as an HTML page on standard output',
  options: levelFlags(),
  examples: ['svc geofence map --org acme > fences.html'],
  prints: [],
  action: async ({ options }, context) => (await import('./map.ts')).runMap(options, context),
})

/** `svc timeslot week`: the open times of a week as an HTML page. */
export const registerWeek = defineCommand({
  name: 'week',
  summary: 'Draw the open times of a week, as an HTML page on standard output',
  options: {
    ...levelFlags(),
    '--timezone <zone>': "IANA time zone of the clock; default: this machine's",
    '--at <date>': 'Date in the week; default: today',
  },
  examples: ['svc timeslot week --org acme --timezone Europe/Berlin --at 2030-03-31 > week.html'],
  prints: [],
  action: async ({ options }, context) => (await import('./week.ts')).runWeek(options, context),
})
