import type { Env } from '../core/env.ts'

export type OutputStream = {
  write(text: string): void
  isTTY: boolean
  columns: number
}

/** Everything that a command knows of the outside world. Tests give a version in memory. */
export type Io = {
  stdin: { isTTY: boolean; text(): Promise<string>; bytes(): Promise<Buffer> }
  stdout: OutputStream
  stderr: OutputStream
  env: Env
  cwd: string
  now(): Date
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal
}
