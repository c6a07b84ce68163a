/** Fewer than the 32,766 values that SQLite takes in a statement, and half, because some name a list twice. */
const most = 10_000

/** What is found for any number of ids, which one statement could not name. */
export const inParts = async <T>(
  ids: readonly number[],
  read: (part: number[]) => Promise<readonly T[]>,
): Promise<T[]> => {
  const found: T[] = []
  for (let at = 0; at < ids.length; at += most) found.push(...(await read(ids.slice(at, at + most))))
  return found
}
