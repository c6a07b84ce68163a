import type { Client } from '../../client/client.ts'
import type { Again } from '../program/command-line.ts'
import type { Io } from '../terminal/io.ts'
import type { Output } from '../terminal/output.ts'
import type { Prompt } from '../terminal/prompt.ts'
import type { Settings } from './settings.ts'

/** The flags that every command takes, as typed. */
export type Globals = {
  profile?: string
  baseUrl?: string
  cacert?: string
  keyFile?: string
  output?: string
  /** True where no field is named. */
  json?: string | true
  jq?: string
  envelope?: boolean
  reveal?: boolean
  color?: boolean
  input?: boolean
  debug?: boolean
}

/**
 * Something that is about to be changed: by the operations of which words, as a line for the person who approves it,
 * and in which organization.
 */
export type Change = {
  cli: string | readonly string[]
  line?: string
  org?: string | number
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

/** A factory of lazy things: a command asks for what it needs, `--help` opens nothing. */
export type Context = {
  io: Io
  globals: Globals
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
  /** Something was changed by this run: no failure from now on may look as if nothing had happened. */
  changed?: boolean
  /** Text with a secret that is answered once, from when it is written on. */
  once?: string
  /** What to type when that text is lost. */
  lostHint?: string
  /** What the process exits with when nothing failed; a command may set it (`verify`: 1). */
  exitCode: number
  /** Added to the code of a failure: 100 where it could be taken for that of a child (`approve run`). */
  exitOffset: number
}
