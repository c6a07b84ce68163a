import { Argument, type Command } from 'commander'
import { addAskFlags, hookOperation } from '../approve/ask.ts'
import type { Context } from '../context/context.ts'
import { collect } from '../operation/flags.ts'
import { noteScope } from '../program/command-node.ts'
import { hostNames, type HostName } from './host.ts'
import type { LevelOptions } from './install.ts'
import type { RunOptions } from './run.ts'

const matchFlag = [
  '--match <tool>',
  'Tool to hold, * for any text; default: the shell of the host (can be repeated)',
] as const

const hostArgument = (): Argument => new Argument('<host>').choices(hostNames)

const addLevelFlags = (command: Command): Command =>
  command
    .option('--project', 'Use the file of the project in this folder, not your own')
    .option('--managed', 'Use the file for all users of this machine, which requires root')
    .option('--dry-run', 'Show what would be done and write nothing')

/** `svc hook`: holds the tool calls of an agent until a person approves them. */
export const registerHook = (group: Command, context: Context): void => {
  const install = group
    .command('install')
    .description('Let an agent run a tool only if a person approves exactly this call')
    .usage('<host> [flags]')
    .addArgument(hostArgument())
    .option(...matchFlag, collect)
  addAskFlags(install, hookOperation)
  addLevelFlags(install)
    .addHelpText(
      'after',
      `\nWrites only its own hook into the configuration of the host. A second run replaces it.` +
        `\nThe hook requires a key that can only request approvals.` +
        `\n\nExample:\n  svc hook install claude --match 'Bash,mcp__github__*' --to +12025550101`,
    )
    .action(async (host: HostName, options: RunOptions & LevelOptions) =>
      (await import('./install.ts')).installHook(host, options, context),
    )

  addLevelFlags(
    group
      .command('uninstall')
      .description('Remove the hook that svc has installed')
      .usage('<host> [flags]')
      .addArgument(hostArgument()),
  )
    .addHelpText('after', '\nExample:\n  svc hook uninstall claude')
    .action(async (host: HostName, options: LevelOptions) =>
      (await import('./install.ts')).uninstallHook(host, options, context),
    )

  group
    .command('status')
    .description('Show the installed hooks, and whether they could get an approval')
    .addHelpText(
      'after',
      '\nExits with 1 if a hook would block every call. A host in the state open runs a call if its hook does not answer in time.\n\nExample:\n  svc hook status',
    )
    .action(async () => (await import('./status.ts')).showHooks(context))

  const run = group
    .command('run')
    .description('Decide about a tool call; the host calls it, with the call on standard input')
    .usage('<host> [flags]')
    .addArgument(hostArgument())
    .option(...matchFlag, collect)
  addAskFlags(run, hookOperation)
  run
    .addHelpText(
      'after',
      `\nExits with 0 for an approved call and for a tool that it does not hold, and with 2 in every other case.` +
        `\n\nExample:\n  svc hook run claude --to +12025550101 < call.json`,
    )
    .action(async (host: HostName, options: RunOptions) =>
      (await import('./run.ts')).runHook(host, options, context),
    )
  noteScope(run, 'ask')
}
