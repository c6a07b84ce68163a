import { failure, usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { defineCommand, together, type Register } from '../program/define-command.ts'
import { configPath, exampleConfig, type GuardConfig } from './config.ts'

/** `svc guard check`: says whether the guards can work, what to fix, and which lines start them. */
const check = defineCommand<{ offline?: boolean }>({
  name: 'check',
  summary: 'Check the configuration of the guards, and print the lines that start them',
  args: ['[file]'],
  options: { '--offline': 'Do not ask the service' },
  note:
    `Run it as root: only root can read the key. A guard always uses ${configPath}, for example:\n\n` +
    exampleConfig.replaceAll(/^/gm, '  '),
  examples: ['svc guard check --offline'],
  action: async ({ args: [file], options: { offline = false } }, context) => {
    const { examineGuard } = await import('./examine.ts')
    const { reportFindings } = await import('../doctor/report.ts')
    const { findings, lines } = await examineGuard(file, { offline }, context)
    await reportFindings(findings, context, {
      code: 'unsafe_guard',
      hint: 'Do not rely on the guards until every check passes',
      below: lines.map(({ file: of, lines: some }) => `\n# ${of}\n${some.join('\n')}\n`).join(''),
    })
  },
})

/** No flag of svc may choose another service, key or profile. */
const requireNoFlags = ({ globals }: Context): void => {
  const given = ['profile', 'baseUrl', 'cacert', 'keyFile', 'debug'] as const
  if (given.some((name) => globals[name] !== undefined))
    throw usageError(
      `A guard accepts no flag for a profile, an address, a key or a CA: ${configPath} sets everything`,
      'svc guard check prints the lines to use',
    )
}

type Section = 'exec' | 'ssh' | 'git'

/** Checks environment and configuration, and runs a guard that the configuration has a section for. */
const guarded = async <T>(
  section: Section,
  context: Context,
  run: (config: GuardConfig) => Promise<T>,
): Promise<T> => {
  const { readConfig, requireCleanEnvironment } = await import('./trust.ts')
  requireNoFlags(context)
  requireCleanEnvironment(context.io.env)
  const config = readConfig()
  if (!config[section])
    throw failure(
      'guard_off',
      `${configPath} has no section ${section}: nothing was run`,
      `Add it, as docs/guards.md shows: svc guard check`,
    )
  return run(config)
}

const codes =
  '\nErrors of svc itself exit with 100 plus their code: 106 denied, 107 expired, 109 unreachable. Nothing runs then.'

const exec = defineCommand({
  name: 'exec',
  summary: 'Run a command for sudo, only if a person approves exactly it',
  usage: '-- <command> [args...]',
  args: ['[command...]'],
  note: `Everything is set in ${configPath}, and nothing by the caller.${codes}`,
  examples: ['svc guard exec -- systemctl restart nginx'],
  prints: [],
  runsProgram: true,
  action: async ({ args }, context) => {
    const { guardExec } = await import('./exec.ts')
    context.exitCode = await guarded('exec', context, (config) => guardExec(args, config, context.io))
  },
})

const ssh = defineCommand<{ as?: string }>({
  name: 'ssh',
  summary: 'Run the command or shell of an SSH connection, only if a person approves it',
  options: { '--as <name>': 'Who has the key, as authorized_keys says; the approver reads it' },
  note: `For command="…" in authorized_keys. sshd passes what the client wants in SSH_ORIGINAL_COMMAND.${codes}`,
  examples: ['svc guard ssh --as alice'],
  prints: [],
  runsProgram: true,
  action: async ({ options: { as } }, context) => {
    if (as !== undefined && !/^[\w.@+-]{1,64}$/.test(as))
      throw usageError(`--as must be a name of letters, digits and . @ + -, not "${as}"`, '--as alice')
    const { guardSsh } = await import('./ssh.ts')
    context.exitCode = await guarded('ssh', context, (config) => guardSsh(as, config, context.io))
  },
})

const git = defineCommand({
  name: 'git',
  summary: 'Accept a push to guarded refs, only if a person approves it',
  note: `For hooks/pre-receive, which gets the updates on standard input.${codes}`,
  examples: ['svc guard git < updates'],
  prints: [],
  runsProgram: true,
  action: async (_, context) => {
    const { guardGit } = await import('./push.ts')
    await guarded('git', context, (config) => guardGit(config, context.io))
  },
})

/** `svc guard`: holds back sudo, SSH and git on this machine. */
export const registerGuard: Register = async (group, context, program) => {
  await together(exec, ssh, git, check)(group, context, program)
  // A misspelled guard must not look as if its command had exited with 2. `check` has its own codes already.
  group.exitOverride((error) => {
    if (error.exitCode !== 0) context.exitOffset = 100
    throw error
  })
}
