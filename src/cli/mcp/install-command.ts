import { Argument, type Command } from 'commander'
import type { Context } from '../context/context.ts'
import { noteScope } from '../program/command-node.ts'
import { type ClientName, clientNames } from './client-files.ts'
import { installClient, uninstallClient } from './install.ts'

const commands = [
  [
    'install',
    'Add svc mcp to the configuration of a client, with a key that can only ask',
    'svc mcp install claude-code',
    installClient,
  ],
  [
    'uninstall',
    'Remove svc mcp from the configuration of a client',
    'svc mcp uninstall claude-code',
    uninstallClient,
  ],
] as const

/** `svc mcp install` and `svc mcp uninstall` */
export const registerInstall = (group: Command, context: Context): void => {
  for (const [word, about, example, run] of commands) {
    const command = group
      .command(word)
      .description(about)
      .usage('<client> [flags]')
      .addArgument(new Argument('<client>').choices(clientNames))
      .option('--project', 'The file of the current folder instead of that of the user')
      .option('--dry-run', 'Show what would be done and write nothing')
      .addHelpText('after', `\nExample:\n  ${example}`)
      .action((client: ClientName, options: { project?: boolean; dryRun?: boolean }) =>
        run(client, options, context),
      )
    if (word === 'install') noteScope(command, 'ask')
  }
}
