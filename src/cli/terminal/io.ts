import type { Env } from '../../core/env.ts'

export type OutputStream = {
  write(text: string): void
  isTTY: boolean
  columns: number
}

/** The environment of a command. Tests use a version in memory. */
export type Io = {
  stdin: { isTTY: boolean; text(): Promise<string>; bytes(): Promise<Buffer> }
  stdout: OutputStream
  stderr: OutputStream
  env: Env
  /** Set by the run: reports that standard output cannot be written (`EPIPE`, `ENOSPC`). Returns the exit code, if it ends the run. */
  onUnwritable?(code: string): Promise<number | undefined>
  /** Set by a command that a hangup does not end. */
  onHangup?(): void
  /** Receives the answer or error of a command as data; `svc demo` checks its steps with it. */
  onAnswer?(answer: unknown): void
  cwd: string
  /** The same folder by a name that keeps to it when it is renamed: `.` of a process. */
  here: string
  now(): Date
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal
}

/** The global flags, as typed. */
export type Globals = {
  profile?: string | undefined
  baseUrl?: string
  cacert?: string
  keyFile?: string
  output?: string | undefined
  jq?: string
  reveal?: boolean
  color?: boolean | undefined
  input?: boolean
  debug?: boolean
}

/** The state of a run of the command line that output depends on. */
export type Run = {
  io: Io
  globals: Globals
  /** The words of the running command. */
  command?: { words: string }
  /** Text is all that this run is for, page after page: without a reader it ends. */
  endsWithReader?: boolean
  /** This run made a change, so a later failure must not look as if nothing happened. */
  changed?: boolean
  /** The printed text with a secret that is shown once. */
  once?: string
  /** What to do if that text is lost. */
  lostHint?: string
}
