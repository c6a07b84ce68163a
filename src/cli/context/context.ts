import type { Client } from '../../client/client.ts'
import type { BatchOperation } from '../../contract/batchable.ts'
import type { Output } from '../terminal/output.ts'
import type { Prompt } from '../terminal/prompt.ts'
import type { Io, Run } from '../terminal/io.ts'
import type { Settings } from './settings.ts'

/** Changes to a command that is printed to be run again. */
export type Again = {
  /** Flags to leave out, by their long names: `--cursor`. */
  without?: readonly string[]
  /** Replaces the typed arguments. */
  args?: readonly string[]
  /** Words to add. */
  plus?: readonly string[]
}

/**
 * A change that is about to happen: the words of its operations, a line for the person who approves it, and the
 * organization.
 */
export type Change = {
  cli: string | readonly string[]
  line?: string
  org?: string | number | undefined
  /** The exact data to which the approval is bound; without it, the approval covers only the line. */
  bound?(): Promise<Bound>
}

/** The data of a write; see the subject `request` in `receipt/subject.ts`. */
export type Bound = {
  operation: string
  body?: Record<string, unknown>
  /** The values that an update replaces. */
  before?: Record<string, unknown>
  counts?: Record<string, number>
  /** The names of everything that the write deletes. */
  deletions?: string[]
  file?: { name: string; sha256: string }
}

/** One of many changes. `mobile` is the number of its user, if an earlier row creates the user. */
export type ChangeRow = { operation: BatchOperation; input: Record<string, unknown>; mobile?: string }

export type Together = {
  org: number
  /** Leaves out the users who already exist, instead of throwing. */
  skipExisting: boolean
  /** How an error names a row. */
  nameOf(place: number): string
}

export type TogetherApproved = {
  /** What each row names as its approval; undefined if it needs none. */
  approvals: (string | undefined)[]
  /** Places of the rows whose users already exist. Known only of rows that a rule holds. */
  existing: Set<number>
}

/** Holds back changes that require an approval by the profile or a rule of the organization. */
export type ApprovalGuard = {
  requireApproved(change: Change): Promise<void>
  approveTogether: Context['approveTogether']
  /**
   * The same client, but it makes no change that requires an approval before a person has approved it. It prints a
   * notice if it notified the same person again.
   */
  guard(client: Client): Client
  /** The id of the approved request, for the audit log of the service. */
  approval(): string | undefined
}

/** What a command can use. Everything is created on first use, so `--help` opens nothing. */
export type Context = Run & {
  /** The values of flags, environment, profile and defaults. */
  settings(): Promise<Settings>
  client(): Promise<Client>
  /** The running command: its words, its line as typed, and that line with changes to run it again. */
  command?: { words: string; line(): Promise<string>; again(change: Again): Promise<string> }
  /**
   * Requests an approval, once per run, if the profile requires one for this change or its command. The client calls it
   * before each write; a command that can describe its change better calls it earlier.
   */
  approveFirst(change: Change): Promise<void>
  /**
   * Requests one approval for those of these changes that rules of the organization hold, and waits for it. Throws without an
   * approval; nothing was changed then.
   */
  approveTogether(rows: readonly ChangeRow[], options: Together): Promise<TogetherApproved>
  output(): Promise<Output>
  /** Why, for rules of the organization that hold a write and require a reason. */
  reason?: string | undefined
  /** Prompts on a terminal; undefined without one, or with --no-input. */
  prompt(): Promise<Prompt | undefined>
  /** The exit code if nothing failed; a command can set it (`verify`: 1). */
  exitCode: number
  /** Added to the exit code of a failure: 100 if it could be mistaken for that of a child process (`approve run`). */
  exitOffset: number
}

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** The context of one run of the command line; `close` closes its connections. */
export const createContext = (
  io: Io,
  createGuard: (context: Context) => ApprovalGuard,
): Context & { close(): Promise<void> } => {
  let client: Promise<Client> | undefined
  /** Uses the time in which the service answers. If it fails, running the filter fails and says why. */
  const prepareFilter = once(async () => {
    const { jq } = context.globals
    if (jq !== undefined) await (await import('../terminal/jq.ts')).prepareFilter(jq)
  })
  const connect = async (): Promise<Client> => {
    const { openClient } = await import('./open-client.ts')
    return guard.guard(
      openClient(context.io, context.globals, await context.settings(), {
        approval: () => guard.approval(),
        reason: () => context.reason,
        forAgent: context.command?.words === 'mcp',
        onSent: () => void prepareFilter().catch(() => undefined),
      }),
    )
  }
  const context: Context & { close(): Promise<void> } = {
    io,
    globals: {},
    exitCode: 0,
    exitOffset: 0,
    settings: once(async () => {
      const { createSettings } = await import('./settings.ts')
      const settings = createSettings({ io, globals: context.globals })
      const { value, source } = settings.profile
      if (context.globals.debug) io.stderr.write(`  profile ${value} (${source})\n`)
      return settings
    }),
    client: () => (client ??= connect()),
    approveFirst: (change) => guard.requireApproved(change),
    approveTogether: (rows, options) => guard.approveTogether(rows, options),
    output: once(async () => {
      const { createOutput } = await import('../terminal/create-output.ts')
      const output = createOutput(context)
      if (context.globals.jq === undefined) return output
      await (await import('../terminal/jq.ts')).checkFilter(context.globals.jq)
      return output
    }),
    prompt: once(async () => {
      if (!io.stdin.isTTY || !io.stderr.isTTY || context.globals.input === false) return undefined
      const { createPrompt } = await import('../terminal/prompt.ts')
      return createPrompt(io)
    }),
    close: async () => {
      const open = await client?.catch(() => undefined)
      await open?.close()
    },
  }
  const guard = createGuard(context)
  return context
}
