import type { Command } from 'commander'
import { version } from '../../../package.json'
import type { Context } from '../context/context.ts'
import { describeCommand } from './command-node.ts'
import type { Register } from './program.ts'

/** `svc version`: like `svc --version`, but also as data with `-o json`. */
export const registerVersion = (command: Command, context: Context): void => {
  command
    .usage('[flags]')
    .addHelpText('after', '\nExample:\n  svc version -o json')
    .action(async () => {
      const output = await context.output()
      if (context.globals.output === undefined && !output.machine)
        return void context.io.stdout.write(`svc ${version}\n`)
      return output.report('Version', { version, node: process.version })
    })
}

/** `svc commands`: the whole command tree as JSON. */
export const registerCommands: Register = (command, context, program) => {
  command.addHelpText('after', '\nExample:\n  svc commands | jq .commands[].name').action(async () => {
    const tree = describeCommand(await program.tree())
    const output = await context.output()
    await output.report('Commands', tree, { document: true })
  })
}
