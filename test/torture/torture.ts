/** A row of the reliability table: a count that must be zero, with a control that proves that it can be otherwise. */
export type Torture = {
  name: string
  /** The wanted result, as printed in the table: `0 accepted`. */
  must: string
  run(): Promise<Result>
}

export type Result = {
  /** How often it was tried. */
  count: number
  /** How often it went wrong. Must be 0. */
  failures: number
  /** What occurred: injected faults, races, refusals by kind. */
  hits: Record<string, number>
  /** Failures of the same test with a deliberately broken variant. Must not be 0. */
  control: number
  /** The first few failures. */
  examples?: string[]
}
