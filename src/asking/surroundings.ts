/** What an adapter needs of the program that asks. */
export type Surroundings = {
  /** The clock of this machine, in milliseconds. */
  now(): number
  /** JSON from a public address, without credentials. */
  getJson(url: string): Promise<unknown>
  /** The organization of a request that names none, as typed or configured: id or slug. */
  organization(): Promise<string | undefined>
  /** Flags for the commands in hints, so that they use the same service and key. */
  flags: string
}
