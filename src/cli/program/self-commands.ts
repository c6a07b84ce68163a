import { describeCommand } from './command-node.ts'
import type { Register } from './program.ts'

/** `svc commands`: the whole command tree as JSON. */
export const registerCommands: Register = (command, context, program) => {
  command.addHelpText('after', '\nExample:\n  svc commands | jq .commands[].name').action(async () => {
    const tree = describeCommand(await program.tree())
    const output = await context.output()
    await output.report('Commands', tree, { document: true })
  })
}
