/** Milliseconds for which a result holds, so that asking often costs no more writes. */
const holds = 2_000

/**
 * Tells whether a write succeeds. Whoever asks while one is tried, or soon after, gets the same result. `failures` counts
 * the writes of the service that the disk refused: after one of them the answer is no until a `thorough` write succeeds,
 * because a small one may still find room.
 */
export const createWriteProbe = (
  write: (thorough: boolean) => Promise<void>,
  failures: () => number,
  now = (): number => performance.now(),
): (() => Promise<boolean>) => {
  let latest: Promise<boolean> | undefined
  /** Not yet while a write is tried. */
  let stale = Number.POSITIVE_INFINITY
  /** The failures before the latest success. */
  let forgiven = 0
  const attempt = async (): Promise<boolean> => {
    stale = Number.POSITIVE_INFINITY
    const before = failures()
    try {
      await write(before > forgiven)
      forgiven = before
      return true
    } catch {
      return false
    } finally {
      stale = now() + holds
    }
  }
  return async () => {
    if (latest === undefined || now() >= stale) latest = attempt()
    return (await latest) && failures() === forgiven
  }
}
