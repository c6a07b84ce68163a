import { Command, CommanderError } from 'commander'
import type { Context } from '../context/context.ts'
import type { Io, OutputStream } from '../terminal/io.ts'
import { maskProse } from '../terminal/mask-prose.ts'
import { declare, describeCommand, wordsOf } from './command-node.ts'
import { checkAccepted, defineCommand, type Program, type Register, type RunLine } from './define-command.ts'
import { helpText, wrapProse } from './help-text.ts'
import { version } from './version.ts'
import { watchFlags } from './watch-flags.ts'

export type Group = {
  about: string
  /** Descriptions of the subgroups. */
  subgroups?: Record<string, string>
  load(): Promise<Register>
}

/** Every group by its first word, and the function that runs a command line. */
export type Tree = {
  groups: Record<string, Group>
  run: RunLine
}

/** The headings of `svc --help`, in the order of a newcomer's day. */
export const headings: Readonly<Record<string, readonly string[]>> = {
  'Start here': ['demo', 'serve', 'profile', 'whoami', 'doctor'],
  'Request and decide': ['approve', 'grant', 'auth'],
  'People, keys and rules': ['org', 'user', 'key', 'group', 'rule', 'geofence', 'timeslot'],
  'Hold back agents and this machine': ['mcp', 'hook', 'guard'],
  'See what happens': ['top', 'audit', 'events', 'webhook', 'notify'],
  'An organization as a file': ['export', 'diff', 'apply'],
  'Operate the service': ['service'],
  'Apps and machines': ['mobile', 'iot'],
  'About svc': ['api', 'commands', 'completion', 'help'],
}

const globalFlags = {
  '-p, --profile <name>': 'Profile to use',
  '--base-url <url>': 'Address of the REST API',
  '--key-file <file>': 'File with the API key; - for standard input',
  '--cacert <file>': 'CA certificate to trust (PEM)',
  '-o, --output <format>': 'table, json, yaml, csv, tsv, ndjson or id',
  '--jq <expr>': 'Filter for the JSON',
  '--reveal': 'Show phone numbers, e-mail addresses and credentials in full',
  '--no-color': 'Disable colours',
  '--no-input': 'Never prompt',
  '--debug': 'Show each request (redacted) and stack traces',
}

const withValue = new Set(
  Object.keys(globalFlags).flatMap((flags) =>
    /[>\]]$/.test(flags) ? flags.replace(',', '').split(' ').slice(0, -1) : [],
  ),
)

/** The first word that is neither a global flag nor its value. */
const firstWord = (argv: readonly string[]): string | undefined => {
  const at = argv.findIndex((word, i) => !word.startsWith('-') && !withValue.has(argv[i - 1] ?? ''))
  return argv[at]
}

export const helpWidth = ({ stdout }: Io): number => Math.min(stdout.columns, 100)

/** The command tree. Loads only the group in `argv`; without `argv`, all groups. */
export const buildProgram = async (
  context: Context,
  parts: Tree,
  argv?: readonly string[],
): Promise<Command> => {
  const { io } = context
  const program = new Command('svc')
    .description(
      'Require a human approval before an action: the biometric approval service and its command line.',
    )
    .version(`svc ${version}`, '-v, --version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand(false)
    .usage('<command> [flags]')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(wrapProse(text, helpWidth(io))),
      writeErr: () => undefined,
      getOutHelpWidth: () => helpWidth(io),
      getOutHasColors: () => false,
    })
    .configureHelp({
      formatHelp: (command) => helpText(describeCommand(command), wordsOf(command), helpWidth(io)),
    })
  declare(program, {
    note: 'Start with svc serve, then svc org create. To see everything at once: svc demo',
    options: { '-v, --version': 'Print the version', ...globalFlags },
  })
  for (const [flags, about] of Object.entries(globalFlags)) program.option(flags, about)
  context.globals = program.opts()
  let givenTwice: ReturnType<typeof watchFlags> | undefined
  program.hook('preAction', async (_, command) => {
    const words = wordsOf(command).join(' ')
    context.command = {
      words,
      line: async () => (await import('./command-line.ts')).typedLine(command),
      again: async (change) =>
        (await import('./command-line.ts')).typedAgain(command, argv ?? [], change, context.globals),
    }
    context.reason = command.opts<{ reason?: string }>().reason
    const twice = givenTwice?.()
    if (twice) throw (await import('./usage-mistake.ts')).flagTwice(...twice, argv ?? [])
    const { output, jq } = context.globals
    if (output === undefined && jq === undefined) return
    // Check the output flags before anything is sent, so that showing an answer cannot fail because of them.
    checkAccepted(command, words, context.globals)
    await context.output()
  })

  const part: Program = {
    words: argv,
    run: parts.run,
    tree: async (words) => {
      const { globals } = context
      const tree = await buildProgram(context, parts, words)
      // `buildProgram` replaced them with the flags of the new tree.
      context.globals = globals
      return tree
    },
  }
  const word = argv && firstWord(argv)
  const named = Object.entries(headings).flatMap(([heading, names]) =>
    names.map((name) => ({ name, heading, group: parts.groups[name]! })),
  )
  for (const { name, heading, group } of named) {
    const command = program.command(name).description(group.about).helpGroup(heading)
    if (argv && name !== word) continue
    const register = await group.load()
    await register(command, context, part)
    for (const child of command.commands)
      if (group.subgroups?.[child.name()]) asGroup(child.description(group.subgroups[child.name()]!))
    if (command.commands.length > 0) asGroup(command)
  }
  givenTwice = watchFlags(program)
  return program
}

/** `svc commands`: the whole command tree as JSON. */
export const registerCommands = defineCommand({
  examples: ['svc commands | jq .commands[].name'],
  action: async (_, context, program) => {
    const tree = describeCommand(await program.tree())
    const output = await context.output()
    await output.report('Commands', tree, { document: true })
  },
})

/** Sets the usage of a command that has only subcommands. */
const asGroup = (command: Command): Command => command.helpCommand(false).usage('<command> [flags]')

/** Runs one command and returns its exit code. All errors are shown here. */
export const runLine = async (
  argv: string[],
  context: Context & { close(): Promise<void> },
  parts: Tree,
): Promise<number> => {
  const { stderr } = context.io
  context.io.stderr = Object.create(stderr, {
    write: { value: (text: string) => stderr.write(context.globals.reveal ? text : maskProse(text)) },
  }) as OutputStream
  context.io.onUnwritable = async (code) => {
    const { showError, unwritable } = await import('../terminal/error.ts')
    const error = unwritable(context, code)
    if (error) return showError(error, context)
    // Any other run goes on: its exit code may be the answer, such as a denial.
    return context.endsWithReader ? 0 : undefined
  }
  let program: Command | undefined
  try {
    program = await buildProgram(context, parts, argv)
    if (argv.length === 0) {
      program.outputHelp()
      return 0
    }
    await program.parseAsync(argv, { from: 'user' })
    return context.exitCode
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const { showError } = await import('../terminal/error.ts')
    const shown =
      error instanceof CommanderError
        ? (await import('./usage-mistake.ts')).asUsage(error, argv, program!)
        : (await import('./command-line.ts')).withTypedOrg(error, context)
    const code = showError(shown, context)
    return code < 100 ? code + context.exitOffset : code
  } finally {
    await context.close()
  }
}
