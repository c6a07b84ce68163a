import type { Command } from 'commander'
import { fieldsOf } from '../../contract/describe.ts'
import { geofence } from '../../contract/geofence.ts'
import { timeslot } from '../../contract/timeslot.ts'
import type { Context } from '../context/context.ts'
import { addFlag } from '../operation/flags.ts'
import { addOrgFlag } from '../operation/need.ts'

/** `svc geofence map`: geofences as a table or a drawing. */
export const registerMap = (group: Command, context: Context): void => {
  const command = group
    .command('map')
    .description('List the geofences around a location, or draw them on a map')
    .usage('[flags]')
  addOrgFlag(command, '; not with --user')
  const flags = new Set(['user', 'latitude', 'longitude', 'accuracy'])
  for (const field of fieldsOf(geofence.checkGeofence)) if (flags.has(field.flag)) addFlag(command, field)
  command
    .option('--html <file>', 'Draw the map as an HTML page in this file; - for standard output')
    .addHelpText(
      'after',
      '\nExample:\n  svc geofence map --org acme --latitude 52.5201 --longitude 13.4049 --accuracy 20\n  svc geofence map --org acme --html fences.html',
    )
    .action(async () => {
      const { runMap } = await import('./map.ts')
      await runMap(command.opts(), context)
    })
}

/** `svc timeslot week`: a week of time slots as a table or a drawing. */
export const registerWeek = (group: Command, context: Context): void => {
  const command = group
    .command('week')
    .description('List the open times of a week, or draw them')
    .usage('[flags]')
  const user = fieldsOf(timeslot.checkTimeslot).find(({ flag }) => flag === 'user')!
  addFlag(addOrgFlag(command, '; not with --user'), user)
  command
    .option('--timezone <zone>', "IANA time zone of the clock; default: this machine's")
    .option('--at <time>', 'Date in the week, or ISO 8601 time with an offset; default: now')
    .option('--html <file>', 'Draw the week as an HTML page in this file; - for standard output')
    .addHelpText(
      'after',
      '\nExample:\n  svc timeslot week --org acme --timezone Europe/Berlin\n  svc timeslot week --org acme --user 7 --at 2030-03-31 --html week.html',
    )
    .action(async () => {
      const { runWeek } = await import('./week.ts')
      await runWeek(command.opts(), context)
    })
}
