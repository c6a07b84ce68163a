/** Fewer than the 32,766 values that SQLite takes in a statement, and half, because some name a list twice. */
const mostOfStatement = 10_000

/** What is found for any number of ids, which one statement could not name: at most `most` in each. */
export const inParts = async <Id, T>(
  ids: readonly Id[],
  read: (part: Id[]) => Promise<readonly T[]>,
  most = mostOfStatement,
): Promise<T[]> => {
  const found: T[] = []
  for (let at = 0; at < ids.length; at += most) found.push(...(await read(ids.slice(at, at + most))))
  return found
}
