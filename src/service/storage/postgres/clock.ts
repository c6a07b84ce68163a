/** A sample that is this far behind the estimate means that the clock of the database was set, not that an answer was slow. */
const stepMs = 500

/**
 * The clock of the database, between its answers estimated with the monotonic clock of this process. Nodes whose own clocks
 * differ agree on it.
 */
export const createDatabaseClock = (monotonic = (): number => performance.now()) => {
  let offset = Date.now() - monotonic()
  let learned = false
  return {
    /** Notes what the clock of the database showed at some moment before now, in seconds since 1970. */
    learn: (seconds: number): void => {
      const candidate = seconds * 1000 - monotonic()
      // An answer arrives late, so of two samples the greater is closer to the truth.
      if (!learned || candidate > offset || candidate < offset - stepMs) offset = candidate
      learned = true
    },
    now: (): string => new Date(offset + monotonic()).toISOString(),
  }
}

export type DatabaseClock = ReturnType<typeof createDatabaseClock>

/** SQL for the time that `learn` takes. An operator in it could be one of the schema, which would then set the clock. */
export const serverTime = "pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())"
