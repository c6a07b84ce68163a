/** What `read` returns; undefined if it throws. */
export const attempted = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}
