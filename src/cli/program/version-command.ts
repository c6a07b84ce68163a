import type { Command } from 'commander'
import { version } from '../../../package.json'
import type { Context } from '../context/context.ts'

/** `svc version`: as `svc --version`, and as data with `-o json`. */
export const registerVersion = (command: Command, context: Context): void => {
  command
    .usage('[flags]')
    .addHelpText('after', '\nExample:\n  svc version -o json')
    .action(async () => {
      const output = await context.output()
      if (context.globals.output === undefined && !output.machine)
        return void context.io.stdout.write(`svc ${version}\n`)
      return output.show({ status: 'success', message: 'Version', data: { version, node: process.version } })
    })
}
