/** Connections at the same time. */
const most = 16

/** Does the work for each item, in order, 16 at a time; starts no more once `signal` is aborted or an item failed. */
export const inParallel = async <T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const left = items.values()
  let failed = false
  const worker = async (): Promise<void> => {
    for (const item of left) {
      if (signal.aborted || failed) return
      try {
        await work(item)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: most }, worker))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}
