import type { Command } from 'commander'
import { describeCommand } from './command-node.ts'
import type { Context } from '../context/context.ts'

/** `svc commands`: the whole command tree as JSON. */
export const registerCommands = (command: Command, context: Context): void => {
  command.addHelpText('after', '\nExample:\n  svc commands | jq .commands[].name').action(async () => {
    const { buildProgram } = await import('./program.ts')
    const globals = context.globals
    const tree = describeCommand(await buildProgram(context))
    context.globals = globals
    const output = await context.output()
    await output.show({ status: 'success', message: 'Commands', data: tree }, { document: true })
  })
}
