/** Milliseconds for which a result holds, so that asking often costs no more writes. */
const holds = 2_000

/** Tells whether a write succeeds. Whoever asks while one is tried, or soon after, gets the same result. */
export const createWriteProbe = (
  write: () => Promise<void>,
  now = (): number => performance.now(),
): (() => Promise<boolean>) => {
  let latest: Promise<boolean> | undefined
  /** Not yet while a write is tried. */
  let stale = Number.POSITIVE_INFINITY
  const attempt = async (): Promise<boolean> => {
    stale = Number.POSITIVE_INFINITY
    try {
      await write()
      return true
    } catch {
      return false
    } finally {
      stale = now() + holds
    }
  }
  return () => (latest === undefined || now() >= stale ? (latest = attempt()) : latest)
}
