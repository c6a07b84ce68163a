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
    /** Notes what the clock of the database showed at some moment before now, in milliseconds since 1970. */
    learn: (serverMs: number): void => {
      const candidate = serverMs - monotonic()
      // An answer arrives late, so of two samples the greater is closer to the truth.
      if (!learned || candidate > offset || candidate < offset - stepMs) offset = candidate
      learned = true
    },
    now: (): string => new Date(offset + monotonic()).toISOString(),
  }
}

export type DatabaseClock = ReturnType<typeof createDatabaseClock>

/**
 * SQL for the time that `learn` takes. An operator in it could be one of the schema, and a setting of the user can round a number
 * that is not whole: either would set the clock.
 */
export const serverTime =
  "pg_catalog.int8(pg_catalog.float8mul(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()), 1000))"
