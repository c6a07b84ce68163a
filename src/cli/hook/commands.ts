import { Argument } from 'commander'
import { askFlags, hookOperation } from '../approve/ask.ts'
import { many } from '../operation/flags.ts'
import { defineCommand, together } from '../program/define-command.ts'
import type { Flags } from '../program/command-node.ts'
import { hostNames, type HostName } from './host.ts'
import type { LevelOptions } from './install.ts'
import type { RunOptions } from './run.ts'

const host = { usage: '<host> [flags]', args: [new Argument('<host>').choices(hostNames)] }

const matchFlag: Flags = {
  '--match <tool>': many('Tool to hold, * for any text; default: the shell of the host'),
}

const levelFlags: Flags = {
  '--project': 'Use the file of the project in this folder, not your own',
  '--managed': 'Use the file for all users of this machine, which requires root',
  '--dry-run': 'Show what would be done and write nothing',
}

const install = defineCommand<RunOptions & LevelOptions, [HostName]>({
  ...host,
  name: 'install',
  summary: 'Let an agent run a tool only if a person approves exactly this call',
  options: { ...matchFlag, ...askFlags(hookOperation), ...levelFlags },
  note:
    'Writes only its own hook into the configuration of the host. A second run replaces it.' +
    '\nThe hook requires a key that can only request approvals.',
  examples: [`svc hook install claude --match 'Bash,mcp__github__*' --to +12025550101`],
  action: async (...run) => (await import('./install.ts')).installHook(...run),
})

const uninstall = defineCommand<LevelOptions, [HostName]>({
  ...host,
  name: 'uninstall',
  summary: 'Remove the hook that svc has installed',
  options: levelFlags,
  examples: ['svc hook uninstall claude'],
  action: async (...run) => (await import('./install.ts')).uninstallHook(...run),
})

const status = defineCommand({
  name: 'status',
  summary: 'Show the installed hooks, and whether they could get an approval',
  note: 'Exits with 1 if a hook would block every call. A host in the state open runs a call if its hook does not answer in time.',
  examples: ['svc hook status'],
  action: async (_, context) => (await import('./status.ts')).showHooks(context),
})

const run = defineCommand<RunOptions, [HostName]>({
  ...host,
  name: 'run',
  summary: 'Decide about a tool call; the host calls it, with the call on standard input',
  options: { ...matchFlag, ...askFlags(hookOperation) },
  note: 'Exits with 0 for an approved call and for a tool that it does not hold, and with 2 in every other case.',
  examples: ['svc hook run claude --to +12025550101 < call.json'],
  scope: 'ask',
  prints: [],
  action: async (...typed) => (await import('./run.ts')).runHook(...typed),
})

/** `svc hook`: holds the tool calls of an agent until a person approves them. */
export const registerHook = together(install, uninstall, status, run)
