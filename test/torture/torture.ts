/** One hard knock: a count that must be zero, with the proof that it could have been something else. */
export type Torture = {
  name: string
  /** What `measures.md` style tables ask for: `0 accepted`. */
  must: string
  run(): Promise<Result>
}

export type Result = {
  /** How often it was tried. */
  count: number
  /** How often it went wrong; must be 0. */
  failures: number
  /** What was really met: faults injected, races, refusals by kind. */
  hits: Record<string, number>
  /** Failures of the same test against a deliberately broken variant; must not be 0. */
  control: number
  /** The first few failures, for a person. */
  examples?: string[]
}
