/** Work for `of`, an organization for example. Resolves with the result of the work. */
export type Turns = <T>(of: unknown, work: () => Promise<T>) => Promise<T>

/**
 * Runs short pieces of work, at most `atOnce` together: those of each organization in turn, and everything else that the
 * process has to do in between.
 */
export const createTurns = (atOnce: number): Turns => {
  const waiting = new Map<unknown, (() => Promise<void>)[]>()
  let running = 0

  const start = (): void => {
    for (const [of, queue] of waiting) {
      if (running >= atOnce) return
      const work = queue.shift()!
      // Behind all others.
      waiting.delete(of)
      if (queue.length > 0) waiting.set(of, queue)
      running += 1
      void work().finally(() => setImmediate(ended))
    }
  }
  const ended = (): void => {
    running -= 1
    start()
  }

  return (of, work) =>
    new Promise((resolve, reject) => {
      const queue = waiting.get(of) ?? []
      queue.push(() => work().then(resolve, reject))
      waiting.set(of, queue)
      start()
    })
}
