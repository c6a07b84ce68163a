import type { Client } from '../client/client.ts'
import type { Io } from './io.ts'
import type { Output } from './output/output.ts'
import type { Prompt } from './prompt.ts'
import type { Settings } from './profile/settings.ts'

/** The flags that every command takes, as typed. */
export type Globals = {
  profile?: string
  baseUrl?: string
  cacert?: string
  keyFile?: string
  output?: string
  json?: string
  jq?: string
  envelope?: boolean
  reveal?: boolean
  color?: boolean
  input?: boolean
  debug?: boolean
}

/** A factory of lazy things: a command asks for what it needs, `--help` opens nothing. */
export type Context = {
  io: Io
  globals: Globals
  /** Where each value comes from: flag, environment, profile or default. */
  settings(): Promise<Settings>
  client(): Promise<Client>
  output(): Promise<Output>
  /** Questions on a terminal; elsewhere, or with --no-input, undefined. */
  prompt(): Promise<Prompt | undefined>
  /** What the process exits with when nothing failed; a command may set it (`verify`: 1). */
  exitCode: number
  /** Added to the code of a failure: 100 where it could be taken for that of a child (`approve run`). */
  exitOffset: number
}
