import type { Command } from 'commander'
import { fieldsOf } from '../../contract/describe.ts'
import { timeslot } from '../../contract/timeslot.ts'
import type { Context } from '../context/context.ts'
import { addFlag } from '../operation/flags.ts'
import { addOrgFlag } from '../operation/need.ts'

const user = fieldsOf(timeslot.checkTimeslot).find(({ flag }) => flag === 'user')!

const addPicture = (group: Command, word: string, about: string): Command => {
  const command = addOrgFlag(group.command(word), '; not with --user')
    .description(`${about}, as an HTML page on standard output`)
    .usage('[flags]')
  addFlag(command, user)
  return command
}

/** `svc geofence map`: the geofences as an HTML page. */
export const registerMap = (group: Command, context: Context): void => {
  const command = addPicture(group, 'map', 'Draw the geofences on a map')
    .addHelpText('after', '\nExample:\n  svc geofence map --org acme > fences.html')
    .action(async () => (await import('./map.ts')).runMap(command.opts(), context))
}

/** `svc timeslot week`: the open times of a week as an HTML page. */
export const registerWeek = (group: Command, context: Context): void => {
  const command = addPicture(group, 'week', 'Draw the open times of a week')
    .option('--timezone <zone>', "IANA time zone of the clock; default: this machine's")
    .option('--at <date>', 'Date in the week; default: today')
    .addHelpText(
      'after',
      '\nExample:\n  svc timeslot week --org acme --timezone Europe/Berlin --at 2030-03-31 > week.html',
    )
    .action(async () => (await import('./week.ts')).runWeek(command.opts(), context))
}
