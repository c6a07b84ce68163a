export const second = 1000
export const minute = 60 * second

/** A clock that stands still until it is told otherwise. Milliseconds. */
export const createClock = (start = '2030-01-31T12:00:00.000Z') => {
  let at = Date.parse(start)
  return {
    now: () => new Date(at),
    iso: () => new Date(at).toISOString(),
    tick: (ms: number): void => void (at += ms),
  }
}
