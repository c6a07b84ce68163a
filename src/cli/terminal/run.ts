import type { Io } from './io.ts'

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
