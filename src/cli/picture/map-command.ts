import type { Command } from 'commander'
import { fieldsOf } from '../../contract/describe.ts'
import { geofence } from '../../contract/geofence.ts'
import type { Context } from '../context/context.ts'
import { addFlag } from '../operation/flags.ts'

/** `svc geofence map`: fences as a picture. */
export const registerMap = (group: Command, context: Context): void => {
  const command = group
    .command('map')
    .description('Draw the geo-fences and a place on a map')
    .usage('[flags]')
  const flags = new Set(['org', 'user', 'latitude', 'longitude', 'accuracy'])
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
