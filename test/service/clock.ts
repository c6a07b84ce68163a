export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** A clock that stands still until it is advanced, in milliseconds. */
export const createClock = (start = '2030-01-31T12:00:00.000Z') => {
  let at = Date.parse(start)
  let jump = 0
  return {
    now: () => {
      const read = new Date(at)
      at += jump
      jump = 0
      return read
    },
    iso: () => new Date(at).toISOString(),
    tick: (ms: number): void => void (at += ms),
    /** Goes on by so much right after it is read the next time. */
    tickAfterRead: (ms: number): void => void (jump = ms),
  }
}
