export const formats = ['table', 'json', 'yaml', 'csv', 'tsv', 'ndjson', 'id'] as const
export type Format = (typeof formats)[number]

export type Shape = {
  /** Columns of a table and of TSV, in order; without it, the scalar fields of the first row. */
  columns?: readonly string[]
  /** Fields that an answer can have: one that is picked and absent is null. Without it, what is there can be picked. */
  known?: readonly string[]
  /** Fields with what is answered once and never again: left out of what is printed, they are lost. */
  once?: ReadonlySet<string>
  /** Fields that the table of a record leaves out; CSV and JSON have them. */
  folded?: readonly string[]
  /** Fields whose values are masked in a table on a terminal, at any depth. */
  masked?: ReadonlySet<string>
  /** JSON where nobody says how it is shown. */
  document?: boolean
  /** Rows that were shown before: a table goes on below them. */
  above?: readonly unknown[]
  /** The whole envelope, as with --envelope. */
  whole?: boolean
  /** Goes through a pager where it is longer than the terminal. */
  paged?: boolean
}

/** One output service for every format. The payload alone is on stdout, all else on stderr. */
export type Output = {
  format: Format
  /** JSON is asked for, so errors are JSON too. */
  machine: boolean
  /** Shows an envelope's `data`, or the whole with --envelope. */
  show(envelope: { status: string; message: string; data?: unknown }, shape?: Shape): Promise<void>
  /** A line for a person, on stderr; silent when stderr is no terminal. */
  note(text: string): void
  /** As `note`, but always. */
  warn(text: string): void
}
