/** How long a result is reused, in milliseconds, so that frequent calls cause no additional writes. */
const reuseMs = 2_000

/**
 * Reports whether a write succeeds. Callers during an attempt, or soon after it, share its result. `failures` counts the
 * writes of the service that the disk refused: after one, the result is false until a `thorough` write succeeds, because a
 * small one may still find room.
 */
export const createWriteProbe = (
  write: (thorough: boolean) => Promise<void>,
  failures: () => number,
  now = (): number => performance.now(),
): (() => Promise<boolean>) => {
  let latest: Promise<boolean> | undefined
  let staleAt = Number.POSITIVE_INFINITY
  /** The failures before the latest success, which count no more. */
  let forgiven = 0
  const attempt = async (): Promise<boolean> => {
    staleAt = Number.POSITIVE_INFINITY
    const before = failures()
    try {
      await write(before > forgiven)
      forgiven = before
      return true
    } catch {
      return false
    } finally {
      staleAt = now() + reuseMs
    }
  }
  return async () => {
    if (latest === undefined || now() >= staleAt) latest = attempt()
    return (await latest) && failures() === forgiven
  }
}
