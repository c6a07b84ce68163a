import type { Env } from '../../core/env.ts'

export type OutputStream = {
  write(text: string): void
  isTTY: boolean
  columns: number
  /** Of a terminal; where it is not known, nothing is paged. */
  rows?: number | undefined
}

/** A command line for the shell, or `less` where nobody named one; and what its environment has besides ours. */
export type Pager = { command: string | undefined; env: Record<string, string> }

/** Everything that a command knows of the outside world. Tests give a version in memory. */
export type Io = {
  stdin: { isTTY: boolean; text(): Promise<string>; bytes(): Promise<Buffer> }
  stdout: OutputStream
  stderr: OutputStream
  env: Env
  /** Shows a text through a pager on the terminal; false when there is no such program. Without it, nothing is paged. */
  page?(text: string, pager: Pager): Promise<boolean>
  /**
   * Set by the run: says what it means that standard output cannot be written (`EPIPE`, `ENOSPC`), and answers how to
   * exit.
   */
  onUnwritable?(code: string): Promise<number>
  /** Is given what a command answers, or the error it fails with, as data; `svc demo` checks its steps with it. */
  onAnswer?(answer: unknown): void
  cwd: string
  now(): Date
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal
}

/** The flags that every command takes, as typed. */
export type Globals = {
  profile?: string | undefined
  baseUrl?: string
  cacert?: string
  keyFile?: string
  output?: string | undefined
  /** True where no field is named. */
  json?: string | true
  jq?: string
  envelope?: boolean
  reveal?: boolean
  color?: boolean | undefined
  input?: boolean
  debug?: boolean
}

/** What output depends on in a run of the command line. */
export type Run = {
  io: Io
  globals: Globals
  /** The words of the command whose action runs. */
  command?: { words: string }
  /** Something was changed by this run: no failure from now on may look as if nothing had happened. */
  changed?: boolean
  /** Text with a secret that is answered once, from when it is written on. */
  once?: string
  /** What to type when that text is lost. */
  lostHint?: string
}
