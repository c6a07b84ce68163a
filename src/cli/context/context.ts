import type { Client } from '../../client/client.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Output } from '../terminal/output.ts'
import type { Prompt } from '../terminal/prompt.ts'
import type { Io, Run } from '../terminal/io.ts'
import type { Settings } from './settings.ts'

/** What changes when a command is printed to be typed again. */
export type Again = {
  /** Flags that are left out, by their long names: `--cursor`. */
  without?: readonly string[]
  /** In place of the arguments that were typed. */
  args?: readonly string[]
  /** Words that are added. */
  plus?: readonly string[]
}

/**
 * Something that is about to be changed: by the operations of which words, as a line for the person who approves it,
 * and in which organization.
 */
export type Change = {
  cli: string | readonly string[]
  line?: string
  org?: string | number | undefined
  /** What exactly is written, for the approval to be bound to; without it, the line is all there is. */
  bound?(): Promise<Bound>
}

/** A write as data; see the subject `request` in `receipt/subject.ts`. */
export type Bound = {
  operation: string
  body?: Record<string, unknown>
  /** The values that an update replaces. */
  before?: Record<string, unknown>
  counts?: Record<string, number>
  /** The name of everything that is deleted. */
  deletions?: string[]
  file?: { name: string; sha256: string }
}

/** Holds back changes until a person has approved what the profile or a rule of the organization lists. */
export type ApprovalGuard = {
  requireApproved(change: Change): Promise<void>
  /**
   * The same client, but nothing is changed through it before a person has approved what the profile lists; and it says
   * so when it is about to ring somebody again.
   */
  guard(client: Client): Client
  /** The request that was approved, for the audit of the service that took it. */
  approval(): string | undefined
}

/** A factory of lazy things: a command asks for what it needs, `--help` opens nothing. */
export type Context = Run & {
  /** Where each value comes from: flag, environment, profile or default. */
  settings(): Promise<Settings>
  client(): Promise<Client>
  /** The command whose action runs: its words, the line as it was typed, and that line to be typed again with what was missing. */
  command?: { words: string; line(): Promise<string>; again(change: Again): Promise<string> }
  /**
   * Asks a person first, once a run, where the profile wants that for this change or for the command that makes it. The
   * client does so before each write; a command that knows better words for what it is about to do calls it before.
   */
  approveFirst(change: Change): Promise<void>
  output(): Promise<Output>
  /** Questions on a terminal; elsewhere, or with --no-input, undefined. */
  prompt(): Promise<Prompt | undefined>
  /** What the process exits with when nothing failed; a command may set it (`verify`: 1). */
  exitCode: number
  /** Added to the code of a failure: 100 where it could be taken for that of a child (`approve run`). */
  exitOffset: number
}

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** The context of one run of the command line; `close` lets go of its connections. */
export const createContext = (
  io: Io,
  createGuard: (context: Context) => ApprovalGuard,
): Context & { close(): Promise<void> } => {
  let client: Promise<Client> | undefined
  const connect = async (): Promise<Client> => {
    const { openClient } = await import('./open-client.ts')
    return guard.guard(
      openClient(context.io, context.globals, await context.settings(), {
        approval: () => guard.approval(),
        forAgent: context.command?.words === 'mcp',
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
      const { value, source, from = source } = settings.profile
      if (context.globals.debug) io.stderr.write(`  profile ${value} (${safeLine(from)})\n`)
      return settings
    }),
    client: () => (client ??= connect()),
    approveFirst: (change) => guard.requireApproved(change),
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
