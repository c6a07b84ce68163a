import type { Command } from 'commander'
import { fieldsOf } from '../../contract/describe.ts'
import { geofence } from '../../contract/geofence.ts'
import { timeslot } from '../../contract/timeslot.ts'
import type { Context } from '../context/context.ts'
import { addFlag } from '../operation/flags.ts'
import { addOrgFlag } from '../operation/need.ts'

/** `svc geofence map`: fences as a picture. */
export const registerMap = (group: Command, context: Context): void => {
  const command = group
    .command('map')
    .description('Draw the geofences and a location on a map')
    .usage('[flags]')
  addOrgFlag(command, '; not with --user')
  const flags = new Set(['user', 'latitude', 'longitude', 'accuracy'])
  for (const field of fieldsOf(geofence.checkGeofence)) if (flags.has(field.flag)) addFlag(command, field)
  command
    .option('--html <file>', 'Write an HTML page to this file; - for standard output')
    .option('--geojson <file>', 'Write GeoJSON to this file; - for standard output')
    .option('--width <n>', 'Width in columns; default: the terminal, at most 120')
    .addHelpText(
      'after',
      '\nExample:\n  svc geofence map --org acme --latitude 52.5201 --longitude 13.4049 --accuracy 20\n  svc geofence map --org acme --html fences.html',
    )
    .action(async () => {
      const { runMap } = await import('./map.ts')
      await runMap(command.opts(), context)
    })
}

/** `svc timeslot week`: a week of time slots as a picture. */
export const registerWeek = (group: Command, context: Context): void => {
  const command = group.command('week').description('Draw the time slots as a week').usage('[flags]')
  const user = fieldsOf(timeslot.checkTimeslot).find(({ flag }) => flag === 'user')!
  addFlag(addOrgFlag(command, '; not with --user'), user)
  command
    .option('--timezone <zone>', "IANA time zone of the clock; default: this machine's")
    .option('--at <time>', 'Date in the week, or ISO 8601 time with an offset; default: now')
    .option('--html <file>', 'Write an HTML page to this file; - for standard output')
    .addHelpText(
      'after',
      '\nExample:\n  svc timeslot week --org acme --timezone Europe/Berlin\n  svc timeslot week --org acme --user 7 --at 2030-03-31',
    )
    .action(async () => {
      const { runWeek } = await import('./week.ts')
      await runWeek(command.opts(), context)
    })
}
